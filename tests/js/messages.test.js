// Plans that send several messages: their claims, their reports, and how these are sent.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { InputError, answerOnce, answersOnce, parsePlan, verifyPlan } from "../../src/bcdp/web/bcdp.js";
import { sendReports } from "../../src/bcdp/web/survey/transport.js";

const { plan: TEXT } = JSON.parse(readFileSync(new URL("../../vectors/messages.json", import.meta.url), "utf8"));
const CLAIMS = JSON.parse(TEXT).certificate.counts;
const RECORD = { bit: true, kind: "v1", never: false, number: 2, other: true };
const KEPT = { status: 202, text: '{"kept":1}', retryAfter: null };

const memory = () => {
  const kept = new Map();
  return { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
};
const verified = async (text) => verifyPlan(await parsePlan(text), { maxEpsilon: Infinity });

/** The plan with one of its claims about counts changed. */
function claiming(claim, form, share) {
  const written = JSON.stringify(claim).slice(1, -1);
  assert.equal(TEXT.split(written).length, 2);
  return TEXT.replace(written, JSON.stringify({ ...claim, [form]: claim[form] * share }).slice(1, -1));
}

for (const [name, claim] of Object.entries(CLAIMS.features)) {
  for (const form of ["epsilon", "odds"]) {
    test(`${form} of ${name}: a thousandth less is refused, a thousandth more is not`, async () => {
      await verified(claiming(claim, form, 1.001));
      await assert.rejects(verified(claiming(claim, form, 0.999)), /certificate\.counts\.features/);
    });
  }
}

for (const form of ["epsilon", "odds"]) {
  test(`${form} of the record: a thousandth less is refused`, async () => {
    const written = `"${form}":${CLAIMS[form]}`;
    assert.equal(TEXT.split(written).length, 2);
    const lower = TEXT.replace(written, `"${form}":${CLAIMS[form] * 0.999}`);
    await assert.rejects(verified(lower), new RegExp(`certificate\\.counts\\.${form}`, "u"));
  });
}

test("several messages need a relay that mixes", async () => {
  await assert.rejects(verified(TEXT.replace('"trust":"relay"', '"trust":"collector"')), /menus/);
});

test("each message has an id of its own, and is kept as it is", async () => {
  const plan = await parsePlan(TEXT);
  const store = memory();
  const first = await answersOnce(plan, RECORD, store);
  assert.deepEqual(first.map(({ menu }) => menu), [0, 1, 2]); // prettier-ignore
  assert.equal(new Set(first.map(({ id }) => id)).size, 3);
  assert.deepEqual(await answersOnce(plan, { ...RECORD, bit: false }, store), first);
  await assert.rejects(answerOnce(plan, RECORD, store), InputError);
  for (const broken of [
    first.slice(1),
    first.slice(0, 2),
    [first[1], first[0], first[2]],
    first[0],
    [...first, first[2]],
  ]) {
    store.setItem(`bcdp.report.${plan.id}`, JSON.stringify(broken));
    await assert.rejects(answersOnce(plan, RECORD, store), InputError);
  }
});

test("messages are sent in any order, and after a failure only those that are left", async () => {
  const [firsts, lasts] = [new Set(), new Set()]; // misses one of three with a chance of 6 (2/3)^100 < 1e-16
  for (let trial = 0; trial < 100; trial += 1) {
    const messages = ["a", "b", "c"].map((name) => `${name}${trial}`);
    const [before, after] = [[], []];
    const failing = async (message) => (before.push(message) === 2 ? { ...KEPT, status: 503 } : KEPT);
    await assert.rejects(sendReports(messages, failing));
    await sendReports(messages, async (message) => (after.push(message), KEPT));
    assert.equal(before.length, 2);
    assert.deepEqual([before[0], ...after].sort(), messages);
    firsts.add(before[0][0]);
    lasts.add(after[1][0]);
  }
  assert.deepEqual([firsts.size, lasts.size], [3, 3]);
});

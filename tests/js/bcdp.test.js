// What the browser's device promises beyond the shared vectors: limits, memory, plain words, odd input.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

import * as bcdp from "../../src/bcdp/web/bcdp.js";
import { checkKept, readReceipt } from "../../src/bcdp/web/device/receipt.js";
import { menuWord } from "../../src/bcdp/web/device/ticket.js";
import { ENGLISH } from "../../src/bcdp/web/device/wording/english.js";
import { tellHint } from "../../src/bcdp/web/device/wording/tell.js";

const { InputError, answer, answerOnce, explain, keptReport, logUp, oddsOf, parsePlan, randomWords, verifyPlan } = bcdp;

const textOf = (name) => JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), "utf8")).plan;
const planOf = (name) => parsePlan(textOf(name));

class Store {
  kept = new Map();
  getItem = (key) => this.kept.get(key) ?? null;
  setItem = (key, value) => void this.kept.set(key, value);
}

test("a person's own limits are kept to the last digit", async () => {
  const plan = await planOf("designed");
  const { epsilon, delta } = verifyPlan(plan);
  const claims = [...plan.certificate.features.values()].map(({ certified }) => certified);
  const [maxEpsilon, maxDelta] = [plan.certificate.epsilon, Math.max(...claims)];
  assert.ok(epsilon <= maxEpsilon && Math.max(...delta.values()) <= maxDelta);
  verifyPlan(plan, { maxEpsilon, maxDelta });
  assert.throws(() => verifyPlan(plan, { maxEpsilon: maxEpsilon * (1 - 1e-15), maxDelta }), /your own limit/);
  assert.throws(() => verifyPlan(plan, { maxEpsilon, maxDelta: maxDelta * (1 - 1e-15) }), /your own limit/);
  assert.throws(() => verifyPlan(plan, { maxEpsilon: NaN }), InputError);
});

test("a device has a limit unless another is set", async () => {
  const plan = await planOf("menus"); // an epsilon of 20 was allowed, and is claimed
  const claimed = { ...plan, certificate: { ...plan.certificate, epsilon: 4.5 } };
  assert.throws(
    () => verifyPlan(claimed),
    /certificate.epsilon: got 4.5; accepted: at most 4, your own limit \(maxEps/,
  );
  verifyPlan(claimed, { maxEpsilon: 4.5 });
  verifyPlan({ ...plan, certificate: { ...plan.certificate, epsilon: 4 } });
});

test("what the operator writes about q decides nothing", async () => {
  const text = textOf("designed").replace(/"default":[0-9.]+/, '"default":0.0');
  const words = "nothing assumed: q = 1” checked";
  const plan = await parsePlan(text.replace(/"source":"[^"]*"/, `"source":${JSON.stringify(words)}`));
  const { guarantees, sentences } = explain(plan, { menu: 0, answer: 0 });
  const smoking = guarantees.find(({ label }) => label === "Smoking");
  assert.equal(smoking.condition, "if the other answers do not move with it at all (q = 0)");
  assert.match(smoking.left, /^at most [0-9.]+ times with nothing assumed$/);
  assert.ok(Number(/[0-9.]+/.exec(smoking.left)[0]) > smoking.odds);
  const quoting = sentences.filter((sentence) => sentence.includes("q = 1"));
  const said =
    'Where conditions come from, the operator says and nobody has checked: “nothing assumed: q = 1" checked”.';
  assert.deepEqual(quoting, [said]);
});

test("logarithms round up, by at most one unit in the last place", () => {
  for (const [top, bottom, digits] of [
    [3n, 1n, "1.0986122886681098"],
    [2n, 1n, "0.6931471805599454"], // the nearest double, ..9453, is below the true value
    [10n ** 40n, 1n, "92.10340371976183"],
  ]) {
    assert.equal(logUp({ top, bottom }), Number(digits));
  }
  assert.equal(logUp({ top: 5n, bottom: 5n }), 0);
  assert.equal(logUp({ top: 1n, bottom: 0n }), Infinity);
});

test("only the canonical text is a plan: its hash is the plan's name", async () => {
  const text = textOf("menus");
  const { bcdp: version, ...rest } = JSON.parse(text);
  const shuffled = JSON.stringify({ ...rest, bcdp: version });
  for (const other of [`${text} `, text.replace(":", ": "), shuffled, text.replace("b", "\\u0062")]) {
    await assert.rejects(parsePlan(other), /canonical/);
  }
  for (const other of ["", "null", "[]", "1", '"plan"', "{}"]) await assert.rejects(parsePlan(other), InputError);
});

test("names and labels may be any text, in any order", async () => {
  const strange = ["__proto__", "constructor", "10", "9", "é", "\ud83d\ude00", "\uffee", 'q"\\\n'];
  const claim = '{"asked":1.0,"c":0.0,"certified":0.0}';
  const sorted = strange.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))); // as code points sort
  const entries = (value) => `{${sorted.map((name) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
  const text =
    `{"bcdp":1,"certificate":{"epsilon":0.0,"features":${entries(claim)},"objective":null,"optimality_gap":null},` +
    `"channels":[],"collection":{"epsilon":1.0,"features":${entries('{"type":"binary"}')},"order":${JSON.stringify(strange)}},` +
    '"correlation":{"default":1.0,"kind":"per feature","named":{},"source":"test"},"mechanism":"survey",' +
    '"menus":[{"questions":[0],"weight":4294967296}],"questions":[{"features":["__proto__"],"levels":[2],"table":0}],' +
    '"tables":[{"family":"response","keep":2147483648,"levels":2,"other":2147483648}]}';
  const plan = await parsePlan(text);
  assert.deepEqual([...plan.features.keys()], strange);
  verifyPlan(plan);
  const record = JSON.parse(entries("1"));
  assert.deepEqual(answer(plan, record, Uint32Array.of(0, 0, 7)), { menu: 0, answer: 1 });
  assert.match(explain(plan, { menu: 0, answer: 1 }).sentences[1], /hints at nothing/);
});

test("a feature is asked at most once in a menu, and no menu has weights left over", async () => {
  const changed = (from, to) => parsePlan(textOf("menus").replace(from, to));
  await assert.rejects(changed('"questions":[0,1]', '"questions":[0,2]'), /at most once/);
  await assert.rejects(changed('"questions":[0,1]', '"questions":[]'), /at least 1/);
});

test("values are clipped, imputed or looked up, and anything else is refused", async () => {
  const plan = await planOf("joint"); // bit imputed as true, number in [-3.5, 12.25], kind v0 to v2
  const words = Uint32Array.of(0, 0, 2 ** 31, 0, 0); // the first menu, numbers rounded to the nearest level, the truth
  const rest = { number: 4.375, kind: "v0", never: 0 };
  const level = (record) => answer(plan, { ...rest, ...record }, words).answer;
  for (const nothing of [{}, { bit: null }, { bit: undefined }, { bit: NaN }]) {
    assert.equal(level(nothing), level({ bit: true }));
  }
  assert.equal(level({ bit: "1", number: Infinity }), level({ bit: 1, number: 12.25 }));
  assert.equal(level({ bit: "False", number: -1e308 }), level({ bit: 0, number: -3.5 }));
  assert.notEqual(level({ bit: 0 }), level({ bit: 1 }));
  const unknown = [{ bit: 2 }, { bit: "maybe" }, { number: "5" }, { number: true }, { kind: "v3" }, { kind: {} }];
  for (const record of unknown) {
    assert.throws(() => level(record), InputError);
  }
});

test("a record without a value is refused, unless the feature has a rule", async () => {
  const plan = await planOf("joint"); // bit has one; a number, three values and two values have none
  const record = { bit: 0, number: 1, kind: "v1", never: 0 };
  const store = new Store();
  for (const name of ["number", "kind", "never"]) {
    const { [name]: _, ...without } = record;
    for (const lacking of [without, { ...record, [name]: null }, { ...record, [name]: NaN }]) {
      await assert.rejects(
        answerOnce(plan, lacking, store),
        new RegExp(`^InputError: ${name}: got no value; accepted: `),
      );
    }
  }
  assert.equal(store.kept.size, 0);
  const { bit: _, ...ruled } = record;
  assert.ok((await answerOnce(plan, ruled, store)).id);
});

test("the answer is given once, whatever is entered later", async () => {
  const plan = await planOf("17-levels");
  const store = new Store();
  assert.equal(keptReport(plan, store), null);
  const first = await answerOnce(plan, { x: -3.5 }, store);
  assert.match(first.id, /^[0-9a-f]{32}$/);
  for (let again = 0; again < 50; again += 1) assert.deepEqual(await answerOnce(plan, { x: 12.25 }, store), first);
  assert.deepEqual(keptReport(plan, store), first);
  assert.notEqual((await answerOnce(plan, { x: 1 }, new Store())).id, first.id);
  for (const broken of ["", "{}", '{"id":"a","menu":0,"answer":1e9}', '{"id":"a","menu":5,"answer":0}']) {
    store.setItem(`bcdp.report.${plan.id}`, broken);
    await assert.rejects(answerOnce(plan, { x: 0 }, store), /cannot be read/);
  }
});

test("a store may take its time: of answers that are given at once there is one", async () => {
  const plan = await planOf("17-levels");
  const store = new Store();
  const later = (value) => new Promise((resolve) => setTimeout(resolve, 2, value));
  const slow = {
    getItem: async (key) => later(store.getItem(key)),
    setItem: async (key, value) => store.setItem(key, await later(value)),
  };
  assert.equal(await keptReport(plan, slow), null);
  const reports = await Promise.all([-3.5, 12.25, 1, 0].map((x) => answerOnce(plan, { x }, slow)));
  for (const report of reports) assert.deepEqual(report, reports[0]);
  assert.deepEqual(await keptReport(plan, slow), reports[0]);
  await assert.rejects(answerOnce(plan, { x: "no number" }, { ...slow, getItem: async () => null }), InputError);
  assert.ok(await answerOnce(plan, { x: 1 }, new Store())); // a failure holds up nobody
  store.setItem(`bcdp.sent.${plan.id}`, "yes");
  store.kept.delete(`bcdp.report.${plan.id}`);
  await assert.rejects(answerOnce(plan, { x: 1 }, slow), /a report that was sent/);
});

test("the hash may come from elsewhere, and must have its form", async () => {
  const sha256 = (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest());
  for (const name of ["designed", "assigned"]) {
    const [own, given] = [await planOf(name), await parsePlan(textOf(name), { sha256 })];
    assert.equal(given.id, own.id);
    if (own.byTicket) assert.deepEqual(await menuWord(given, "a.b"), await menuWord(own, "a.b"));
  }
  for (const wrong of [() => "00".repeat(32), () => new Uint8Array(20), async () => null]) {
    await assert.rejects(parsePlan(textOf("designed"), { sha256: wrong }), /sha256: got/);
  }
});

test("no answer is given that another tab could give again", async (t) => {
  const plan = await planOf("17-levels");
  const key = `bcdp.report.${plan.id}`;
  const faster = new Store(); // another tab keeps its report between this one's reading and writing
  const other = await answerOnce(plan, { x: 1 }, new Store());
  faster.setItem = () => faster.kept.set(key, JSON.stringify(other));
  assert.deepEqual(await answerOnce(plan, { x: -3 }, faster), other);
  const forgetful = new Store();
  forgetful.setItem = () => {};
  await assert.rejects(answerOnce(plan, { x: 1 }, forgetful), /store: got none; accepted: anything lasting/);
  const full = new Store();
  full.setItem = () => assert.fail("full");
  await assert.rejects(answerOnce(plan, { x: 1 }, full), /full/);
  const sent = new Store(); // the survey page removes the report when it has arrived
  sent.setItem(`bcdp.sent.${plan.id}`, "yes");
  await assert.rejects(answerOnce(plan, { x: 1 }, sent), /store: got a report that was sent/);
  assert.equal(sent.kept.size, 1);
  const order = [];
  const locks = { request: async (name, action) => (order.push(name), action()) };
  Object.defineProperty(globalThis, "navigator", { value: { locks }, configurable: true });
  t.after(() => delete globalThis.navigator);
  await answerOnce(plan, { x: 1 }, new Store());
  assert.deepEqual(order, ["bcdp"]);
});

test("what runs from right to left keeps to itself inside a sentence", () => {
  assert.equal(bcdp.quoted("age 5"), "“age 5”");
  assert.equal(bcdp.quoted("عمر 5"), "“\u2068عمر 5\u2069”"); // or a number next to it would be shown on its other side
  assert.equal(bcdp.quoted("می\u200cخواهم"), "“\u2068می\u200cخواهم\u2069”");
});

test("a receipt counts the reports of a message, and anything else is none", () => {
  assert.deepEqual(readReceipt('{"accepted":1,"duplicate":0}'), { accepted: 1, duplicate: 0 });
  assert.deepEqual(readReceipt('{"accepted":2,"duplicate":3}', 5), { accepted: 2, duplicate: 3 });
  const portal = [
    "<html>Sign in</html>",
    "",
    "{}",
    "null",
    "1",
    "[]",
    '{"accepted":1}',
    '{"accepted":true,"duplicate":0}',
  ];
  const wrong = ['{"accepted":0,"duplicate":0}', '{"accepted":1,"duplicate":1}', '{"accepted":2,"duplicate":-1}'];
  for (const text of [...portal, ...wrong, '{"accepted":0.5,"duplicate":0.5}', '{"accepted":"1","duplicate":"0"}']) {
    assert.throws(() => readReceipt(text), /answer: got no receipt; accepted: the collector's counts/);
  }
});

test("a mixing relay's word is that it keeps one message, and anything else is none", () => {
  checkKept('{"kept":1}');
  for (const text of [
    "<html>Sign in</html>",
    "",
    "{}",
    "null",
    '{"kept":0}',
    '{"kept":2}',
    '{"kept":true}',
    '{"kept":"1"}',
  ]) {
    assert.throws(() => checkKept(text), /answer: got no acknowledgement; accepted: the relay's word/);
  }
});

test("nothing is kept when nothing could be answered", async () => {
  const store = new Store();
  const plan = await planOf("17-levels");
  await assert.rejects(answerOnce(plan, { x: "five" }, store), InputError);
  assert.equal(store.kept.size, 0);
});

test("fresh words are as many as the longest menu reads, and differ", async () => {
  const plan = await planOf("menus");
  const [one, other] = [randomWords(plan), randomWords(plan)];
  assert.equal(one.length, 1 + (3 + 2)); // bit, number and the table; kind and the table
  assert.notDeepEqual(one, other);
});

test("plain words: what is hinted, with what chance, and the odds rounded up", async () => {
  const plan = await planOf("designed");
  const { sentences, hints, guarantees } = explain(plan, { menu: 0, answer: 0 });
  assert.equal(guarantees.length, plan.features.size + 1); // and all answers together
  for (const { sentence, condition } of guarantees)
    assert.ok(sentences.includes(sentence) && sentence.includes(condition));
  for (const { least, most } of hints) assert.ok(0 < least && least < most && most < 1);
  const odds = Object.fromEntries(guarantees.map((guarantee) => [guarantee.label, guarantee.odds]));
  assert.equal(odds.Smoking, 1.23); // exp(0.2) = 1.2214
  const smoking = guarantees.find(({ label }) => label === "Smoking");
  assert.equal(smoking.condition, "if the other answers move by at most q = 5 percentage points with it");
  assert.deepEqual([oddsOf(0), oddsOf(Math.log(2)), oddsOf(Math.log(2) + 1e-6)], [1, 2, 2.01]);
  const subset = await planOf("subset");
  const [, hint] = explain(subset, { menu: 0, answer: 0 }).sentences;
  assert.match(hint, /hints at v0 or v1\. .* at least .*% and at most .*%/);
  assert.throws(() => explain(subset, { menu: 0, answer: 99 }), InputError);
});

test("combinations that a hint names keep to themselves", () => {
  const features = new Map(["a", "b"].map((label) => [label, { label, type: "binary", values: ["no", "yes"] }]));
  const hinted = { features: ["a", "b"], levels: [2, 2], kind: "table", rest: 1, least: 0.1, most: 0.2 };
  const told = (digits) => tellHint({ ...hinted, digits }, ENGLISH, features).hint;
  assert.equal(
    told([
      [0, 1],
      [1, 0],
    ]),
    "(no · yes), (yes · no) or 1 more",
  );
  assert.equal(tellHint({ ...hinted, rest: 0, digits: [[0, 1]] }, ENGLISH, features).hint, "no and yes");
});

test("every random word comes from the operating system, and is used as it comes", async (t) => {
  const plan = await planOf("menus");
  const given = [];
  t.mock.method(Math, "random", () => assert.fail("Math.random is no source of chance"));
  t.mock.method(globalThis.crypto, "getRandomValues", (array) => {
    for (let place = 0; place < array.length; place += 1) array[place] = 0x9e3779b9 * (given.length + place + 1);
    given.push(...array);
    return array;
  });
  const words = randomWords(plan);
  assert.deepEqual([...words], given);
  given.length = 0;
  const store = new Store();
  const { id, ...report } = await answerOnce(plan, { bit: 1, number: 2.5, kind: "v1", never: 0 }, store);
  const [bytes, drawn] = [given.slice(0, 16), Uint32Array.from(given.slice(16))];
  assert.equal(id, bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  assert.deepEqual(report, answer(plan, { bit: 1, number: 2.5, kind: "v1", never: 0 }, drawn));
});

test("long menus get all their words, in as many calls as the browser needs", async (t) => {
  const wide = { menus: [{ questions: [0] }], questions: [{ features: Array(40_000).fill("x") }] };
  let calls = 0;
  const { getRandomValues } = globalThis.crypto;
  t.mock.method(globalThis.crypto, "getRandomValues", (array) => {
    calls += 1;
    assert.ok(array.byteLength <= 65_536); // beyond, browsers refuse
    return getRandomValues.call(globalThis.crypto, array);
  });
  const words = randomWords(wide);
  assert.equal(words.length, 40_002);
  assert.equal(calls, 3);
  assert.ok(words.subarray(-1000).some((word) => word > 0));
});

test("without a store there is no answer, outside a browser", async () => {
  const plan = await planOf("binary");
  if (!globalThis.localStorage)
    await assert.rejects(answerOnce(plan, { answer: 1 }), /store: got none; accepted: anything/);
});

test("levels add up exactly and are rounded up", () => {
  assert.equal(bcdp.totalUp([]), 0);
  assert.equal(bcdp.totalUp([1, 0.5]), 1.5);
  assert.equal(bcdp.totalUp([1, 2 ** -80]), 1 + 2 ** -52);
  assert.equal(bcdp.totalUp([0.1, 0.2]), 0.30000000000000004);
  assert.equal(bcdp.totalUp([0.1, 0.7]), 0.8); // plain addition gives 0.7999999999999999, below the sum
  assert.equal(bcdp.totalUp([1, Infinity]), Infinity);
  assert.equal(bcdp.totalUp([1, NaN]), Infinity);
});

test("a ledger reports the smallest level that holds", () => {
  const spring = { plan: "a", epsilon: 2, c: { smoker: 0.125 }, delta: { smoker: 0.25 }, open: [] };
  const autumn = { plan: "b", epsilon: 1, c: { age: 1 }, delta: { age: 1 }, open: [] };
  assert.equal(bcdp.spentOn([spring], "smoker"), 0.25);
  assert.equal(bcdp.spentOn([spring, autumn], "smoker"), 1.25);
  assert.equal(bcdp.spentOn([spring, autumn], "weight"), 3);
  assert.equal(bcdp.spentOn([spring, spring], "smoker"), 2.25); // answered on two devices
  assert.equal(bcdp.spentOn([spring, { ...spring, delta: { smoker: 1 } }], "smoker"), 3); // one name, two things
  assert.equal(bcdp.spentOn([spring, { ...autumn, open: ["region"] }], "smoker"), 3);
  assert.equal(bcdp.spentOn([spring, { ...autumn, open: ["region"] }], "region"), Infinity);
  assert.equal(bcdp.spentOn([spring, { plan: "c", epsilon: 1 }], "smoker"), 3); // of an old row little is known
  assert.equal(bcdp.spentOn([spring, { plan: "c", epsilon: 1, open: [] }], "smoker"), 3); // it may mean something by the name
  assert.equal(bcdp.spentOn([spring, { plan: "c", epsilon: 1 }], "smoker", { q: 0 }), 1.125);
  assert.equal(bcdp.spentOn([spring, autumn], "constructor", { q: 0 }), 0);
  const stated = bcdp.spentOn([spring, autumn], "smoker", { q: 0.05 });
  const exact = Math.log(0.95 * Math.exp(0.125) + 0.05 * Math.exp(3));
  assert.ok(stated >= exact && stated < exact * (1 + 1e-11));
  assert.ok(bcdp.spentOn([spring], "smoker", { q: 1e-20 }) > 0.125);
  const pairs = Array.from({ length: 400 }, (_, x) => [x / 400, 2 - (x / 400) ** 2]);
  const wide = { plan: "d", epsilon: 2, c: { smoker: 1 }, delta: {}, menus: { smoker: pairs }, open: [] };
  const level = (c, epsilon) => Math.log(0.9 * Math.exp(c) + 0.1 * Math.exp(epsilon));
  const least = Math.max(...pairs.map(([c, epsilon]) => level(2 * c, 2 * epsilon)));
  const many = bcdp.spentOn([wide, wide], "smoker", { q: 0.1 });
  assert.ok(many >= least && many < least * 1.01);
  for (const wrong of [{ q: -1 }, { q: NaN }, { odds: 0.5 }])
    assert.throws(() => bcdp.spentOn([], "a", wrong), /accepted/);
});

test("the chance of a hint is told rounded outward", async () => {
  for (const name of ["designed", "menus", "subset", "17-levels", "joint"]) {
    const plan = await planOf(name);
    for (const { sentence, least, most } of explain(plan, { menu: 0, answer: 0 }).hints) {
      const [, low, high] = /at least ([0-9.]+)% and at most ([0-9.]+)%/.exec(sentence);
      assert.ok(Number(low) <= 100 * least && 100 * most <= Number(high), sentence);
      assert.ok(Number(low) > 100 * least - 1 && Number(high) < 100 * most + 1, sentence);
    }
  }
});

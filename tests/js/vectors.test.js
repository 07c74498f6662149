// The shared vectors (vectors/README.md): the same plans, levels, answers and refusals as in Python.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { InputError, answers, certify, chanceOf, oddsOf, parsePlan, verifyPlan } from "../../src/bcdp/web/bcdp.js";
import { code, reportDrawer } from "../../src/bcdp/web/device/answer.js";
import { dateNumber, dateOf } from "../../src/bcdp/web/device/reading/dates.js";
import { firstDay, lastDay, waveOn } from "../../src/bcdp/web/device/reading/panel.js";
import { readFeatures } from "../../src/bcdp/web/device/reading/features.js";

const FOLDER = new URL("../../vectors/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
const OTHERS = ["refused.json", "spellings.json"]; // no plans with answers
const VECTORS = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && !OTHERS.includes(name));

function mix(x) {
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

const word = (seed, record, position) => mix(mix(mix(seed) + record) + position);

function valueOf(feature, w) {
  if (feature.sets) {
    if (w % 16 === 0) return feature.missing === null ? [] : null;
    return feature.sets[Math.floor(w / 16) % feature.sets.length].map((item) => feature.values[item]);
  }
  const [low, high] = feature.bounds ?? [];
  if (w % 16 === 0 && feature.missing !== null) return null;
  if (w % 16 === 0) return feature.values?.[0] ?? low + (high - low) / 2;
  if (feature.type !== "numeric") return feature.values[Math.floor(w / 16) % feature.values.length];
  return low + (high - low) * ((w / 2 ** 32) * 1.5 - 0.25);
}

function recordOf(plan, seed, number) {
  const features = new Map([...plan.features, ...plan.open]);
  const names = [...features.keys()].sort();
  const value = (name, f) => valueOf(features.get(name), word(seed, number, 1000 + f));
  const record = Object.fromEntries(names.map((name, f) => [name, value(name, f)]));
  for (const [name, { askedIf }] of plan.blocks?.order ?? []) {
    const holds = ([parent, values]) => isAmong(features.get(parent), record[parent], [values].flat());
    if (askedIf && !Object.entries(askedIf).every(holds)) record[name] = null;
  }
  return record;
}

/** Whether a feature has one of some values, no answer counting as the plan says; 0 and 1 may be false and true. */
function isAmong({ plain, missing, own }, value, values) {
  if (Array.isArray(value)) return values.some((one) => value.includes(one));
  const counted = value === null && !own ? missing : value;
  return counted !== null && values.some((one) => (plain ? Number(one) === Number(counted) : one === counted));
}

test("there are 10,000 records", () => {
  assert.ok(VECTORS.reduce((total, name) => total + read(name).answers.length, 0) >= 10_000);
});

for (const name of VECTORS) {
  test(`${name}: the id, every level and every answer`, async () => {
    const vector = read(name);
    const plan = await parsePlan(vector.plan);
    assert.equal(plan.id, vector.id);
    const { epsilon, c, delta } = verifyPlan(plan, { maxEpsilon: Infinity });
    assert.deepEqual({ epsilon, c: Object.fromEntries(c), delta: Object.fromEntries(delta) }, vector.levels);
    const before = vector.examples.map(({ record }) => record).reverse(); // of a question about change
    for (const [place, { record, words, answers: several, ...report }] of vector.examples.entries()) {
      const sent = answers(plan, record, Uint32Array.from(words), before[place]);
      if (several)
        assert.deepEqual(sent, several.map((each, menu) => ({ menu, answer: each, ...report }))); // prettier-ignore
      else assert.deepEqual(sent, [report]);
    }
    assert.equal(plan.byTicket, "tickets" in vector);
    for (const [ticket, menu] of vector.tickets ?? []) {
      const report = (await reportDrawer(plan, ticket))(vector.examples[0].record);
      assert.deepEqual([report.id, report.menu], [ticket, menu]);
    }
    const length = vector.examples[0].words.length;
    const people = vector.answers.length / answers(plan, vector.examples[0].record, undefined, before[0]).length;
    for (let number = 0; number < people; number += 1) {
      const words = Uint32Array.from({ length }, (_, position) => word(vector.seed, number, position));
      const group = plan.open.size ? { group: vector.groups[number] } : {};
      const earlier = recordOf(plan, vector.seed + 1, number);
      answers(plan, recordOf(plan, vector.seed, number), words, earlier).forEach((report, message) => {
        const place = message * people + number;
        assert.deepEqual(report, { menu: vector.menus[place], answer: vector.answers[place], ...group });
      });
    }
  });
}

for (const { why, plan: text } of read("refused.json")) {
  test(`refused: ${why}`, async () => {
    await assert.rejects(async () => verifyPlan(await parsePlan(text), { maxEpsilon: Infinity }), InputError);
  });
}

test("odds are told as in Python", () => {
  for (const { level, odds, becomes } of read("words/odds.json")) {
    assert.deepEqual([oddsOf(level), chanceOf(level)], [odds ?? Infinity, becomes], String(level));
  }
});

test("every wave has its days, and every day its wave", () => {
  for (const [every, start, spans, days] of read("words/waves.json")) {
    const panel = { waves: spans.length, every, start };
    spans.forEach((span, wave) => {
      assert.deepEqual([firstDay(panel, wave + 1), lastDay(panel, wave + 1)], span);
    });
    for (const [day, wave] of days) assert.equal(waveOn(panel, day), wave, JSON.stringify([panel, day]));
  }
});

test("every date has its number or is refused", () => {
  for (const [since, unit, value, expected] of read("words/dates.json")) {
    const found = () => dateNumber("day", { since, unit }, value);
    if (expected === null) assert.throws(found, InputError, JSON.stringify(value));
    else assert.equal(found(), expected, JSON.stringify(value));
    if (typeof value === "string" && expected !== null && value.length === 10) {
      assert.ok(value.startsWith(dateOf({ since, unit }, expected)));
    }
  }
});

const { features, values } = read("spellings.json");
for (const [name, feature] of readFeatures({ epsilon: 1, features }).features) {
  test(`${name}: every spelling of a value has its code or is refused`, () => {
    const spelled = values.filter(([other]) => other === name);
    assert.ok(spelled.length > 20);
    for (const [, value, expected] of spelled) {
      const found = () => code(name, feature, value);
      if (expected === null) assert.throws(found, InputError, JSON.stringify(value));
      else assert.equal(found(), expected, JSON.stringify(value));
    }
  });
}

test("certify gives the same levels whatever a plan claims", async () => {
  const { plan: text } = read("refused.json")[0];
  assert.equal(certify(await parsePlan(text)).epsilon, read("menus.json").levels.epsilon);
});

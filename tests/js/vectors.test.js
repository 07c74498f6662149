// The shared vectors (vectors/README.md): the same plans, levels, answers and refusals as in Python.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { InputError, answer, certify, parsePlan, verifyPlan } from "../../src/bcdp/web/bcdp.js";

const FOLDER = new URL("../../vectors/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
const VECTORS = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && name !== "refused.json");

function mix(x) {
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}

const word = (seed, record, position) => mix(mix(mix(seed) + record) + position);

function valueOf(feature, w) {
  if (w % 16 === 0) return null;
  if (feature.type !== "numeric") return feature.values[Math.floor(w / 16) % feature.values.length];
  const [low, high] = feature.bounds;
  return low + (high - low) * ((w / 2 ** 32) * 1.5 - 0.25);
}

function recordOf(plan, seed, number) {
  const names = [...plan.features.keys()].sort();
  const value = (name, f) => valueOf(plan.features.get(name), word(seed, number, 1000 + f));
  return Object.fromEntries(names.map((name, f) => [name, value(name, f)]));
}

test("there are 10,000 records", () => {
  assert.ok(VECTORS.reduce((total, name) => total + read(name).answers.length, 0) >= 10_000);
});

for (const name of VECTORS) {
  test(`${name}: the id, every level and every answer`, async () => {
    const vector = read(name);
    const plan = await parsePlan(vector.plan);
    assert.equal(plan.id, vector.id);
    const { epsilon, c, delta } = verifyPlan(plan);
    assert.deepEqual({ epsilon, c: Object.fromEntries(c) }, { epsilon: vector.levels.epsilon, c: vector.levels.c });
    const margin = vector.plan.includes('"laws":') ? 2e-14 : 0;
    for (const [feature, level] of delta) {
      const stated = vector.levels.delta[feature];
      assert.ok(level <= stated && level >= stated - margin, `${feature}: ${level} for ${stated}`);
    }
    for (const { record, words, ...report } of vector.examples) {
      assert.deepEqual(answer(plan, record, Uint32Array.from(words)), report);
    }
    const length = vector.examples[0].words.length;
    vector.answers.forEach((expected, number) => {
      const words = Uint32Array.from({ length }, (_, position) => word(vector.seed, number, position));
      const report = answer(plan, recordOf(plan, vector.seed, number), words);
      assert.deepEqual(report, { menu: vector.menus[number], answer: expected });
    });
  });
}

for (const { why, plan: text } of read("refused.json")) {
  test(`refused: ${why}`, async () => {
    await assert.rejects(async () => verifyPlan(await parsePlan(text)), InputError);
  });
}

test("certify gives the same levels whatever a plan claims", async () => {
  const { plan: text } = read("refused.json")[0];
  assert.equal(certify(await parsePlan(text)).epsilon, read("menus.json").levels.epsilon);
});

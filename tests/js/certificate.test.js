// Levels that are worked out by hand, of plans so small that they can be; and tables, word by word.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { certify, keptReport, logUp, parsePlan } from "../../src/bcdp/web/bcdp.js";

const TOTAL = 2 ** 32;
const folder = new URL("../../vectors/", import.meta.url);
const vectors = readdirSync(folder)
  .filter((name) => name.endsWith(".json") && !["refused.json", "spellings.json"].includes(name))
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));

const level = (odds) => logUp({ top: BigInt(odds), bottom: 1n });
const nothingKnown = {
  q: (_, others) => (others.length ? 1 : 0),
  odds: (_, others) => (others.length ? Infinity : 1),
  productQ: () => 1,
  laws: () => null,
  rounded: new Set(),
  ranges: new Map(),
  cuts: new Map(),
  alike: true,
};
const ratio = (top) => ({ top: BigInt(top), bottom: 1n });
const feature = (type, more = {}) => ({ type, missing: null, own: false, extras: 0, values: [0, 1], ...more });

test("the weights of every input are all words there are", async () => {
  const tables = (await Promise.all(vectors.map(({ plan }) => parsePlan(plan)))).flatMap((plan) => plan.tables);
  for (const table of tables.filter(({ levels, symbols }) => levels * symbols < 2 ** 16)) {
    for (let input = 0; input < table.levels; input += 1) {
      let sum = 0;
      for (let symbol = 0; symbol < table.symbols; symbol += 1) sum += table.weight(input, symbol);
      assert.equal(sum, TOTAL);
    }
  }
});

test("two values that are coded alike are told apart by what goes with them", () => {
  // if a is 0 the answer tells b with 15 to 1, and if a is 1 nothing; whatever goes with a is allowed
  const weights = [[15, 1], [1, 15], [8, 8], [8, 8]].map((row) => row.map((part) => (part * TOTAL) / 16)); // prettier-ignore
  const table = { levels: 4, symbols: 2, ratio: ratio(15), weight: (input, symbol) => weights[input][symbol] };
  const planOf = (missing) => ({
    features: new Map([["a", feature("binary", { missing })], ["b", feature("binary")]]), // prettier-ignore
    correlation: nothingKnown,
    tables: [table],
    questions: [{ features: ["a", "b"], levels: [2, 2], table: 0 }],
    menus: [{ weight: TOTAL, questions: [0] }],
  });
  assert.equal(certify(planOf(null)).delta.get("a"), level(8)); // 0 against 1, with b as it likes: 8 to 1
  assert.equal(certify(planOf(0)).delta.get("a"), level(15)); // "missing" is coded as 0 and may go with another b
});

test("what odds say of a number is not said of its steps", () => {
  const answered = { levels: 2, symbols: 2, ratio: ratio(3), weight: (x, y) => (x === y ? 3 : 1) * (TOTAL / 4) };
  const planOf = (cuts) => ({
    features: new Map([["number", feature("numeric", { bounds: [0, 1] })], ["b", feature("binary")]]), // prettier-ignore
    correlation: {
      ...nothingKnown,
      q: () => 0.5,
      odds: () => 1,
      rounded: new Set(["number"]),
      cuts: new Map([["number", [0.5]]]),
      alike: false,
    },
    tables: [answered],
    questions: [{ features: ["number"], levels: [2], table: 0, ...cuts }, { features: ["b"], levels: [2], table: 0 }], // prettier-ignore
    menus: [{ weight: TOTAL, questions: [0, 1] }],
  });
  assert.equal(certify(planOf({})).delta.get("b"), level(3)); // odds of 1: the number tells nothing of b
  assert.equal(certify(planOf({ cuts: [[0.5]] })).delta.get("b"), level(6)); // 3 (1 + q (3 - 1))
});

test("a kept report of a group that is none cannot be read", async () => {
  const { plan: text } = JSON.parse(readFileSync(new URL("open.json", folder), "utf8"));
  const plan = await parsePlan(text);
  const groups = [...plan.open.values()].reduce((total, { values }) => total * values.length, 1);
  const kept = (group) => keptReport(plan, { getItem: () => JSON.stringify({ id: "x", menu: 0, answer: 0, group }) });
  assert.equal(kept(groups - 1).group, groups - 1);
  for (const group of [groups, -1, 0.5, "0"]) assert.throws(() => kept(group), /group: got .*a whole number from 0/);
});

// What the survey page says of chances: no number is below what the device computed, and none is left out.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { certify, parsePlan, promisedNumbers } from "../../src/bcdp/web/bcdp.js";
import { chancesOf, strictestFirst, verified } from "../../src/bcdp/web/survey/chances.js";
import { wordsOf } from "../../src/bcdp/web/words/choose.js";

const folder = new URL("../../vectors/", import.meta.url);
const plans = await Promise.all(
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")).plan)
    .filter(Boolean)
    .map(parsePlan),
);
const english = await wordsOf("en");
const becomes = (level) => 100 / (1 + Math.exp(-level));

test("guesses of 100 are rounded up, with the condition and without it", () => {
  let conditional = 0;
  for (const plan of plans) {
    const { delta, epsilon } = certify(plan);
    for (const promised of promisedNumbers(plan)) {
      const { held, broken } = chancesOf(promised);
      assert.ok(held >= becomes(promised.name === null ? epsilon : delta.get(promised.name)) - 1e-9);
      assert.ok(held < promised.becomes + 1 && broken < promised.nothingBecomes + 1);
      assert.ok(broken >= 100 - 100 / (1 + promised.nothing) - 1);
      assert.equal(broken > held, promised.condition !== null && Math.ceil(promised.nothingBecomes) > held);
      conditional += Number(broken > held);
    }
  }
  assert.ok(plans.length > 15 && conditional > 15);
});

test("the sentence is about the answer with the strictest promise, and names all together", () => {
  for (const plan of plans) {
    const promises = promisedNumbers(plan);
    const [first, ...others] = strictestFirst(promises);
    assert.equal(others.length, plan.features.size - 1);
    for (const other of others) assert.ok(other.becomes >= first.becomes);
    const sentence = verified(promises, english, plan.features);
    const { held, broken } = chancesOf(first);
    assert.ok(sentence.includes(`at most ${held} times`));
    assert.equal(sentence.includes("if the organiser's assumption"), first.condition !== null);
    if (first.condition !== null) assert.ok(sentence.includes(`at most ${broken} times if not`));
    assert.ok(
      sentence.includes(`together: at most ${chancesOf(promises.at(-1)).held} times in 100, whatever is assumed.`),
    );
  }
});

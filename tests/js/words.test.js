// The page's words: five languages with the same keys, and the same numbers in every promise and hint.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

import { explain, parsePlan } from "../../src/bcdp/web/bcdp.js";
import { batchNumbers } from "../../src/bcdp/web/device/wording/batch.js";
import { tellBatch } from "../../src/bcdp/web/device/wording/tell_batch.js";
import { LANGUAGES, languageOf, spoken, wordsOf } from "../../src/bcdp/web/words/choose.js";

const folder = new URL("../../vectors/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
const plans = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map(read)
  .filter(({ plan }) => plan);
const every = await Promise.all(Object.keys(LANGUAGES).map(wordsOf));
const english = every[0];

test("every language has the same keys, and functions of as many arguments", () => {
  const shape = (value) => {
    if (typeof value === "function") return "function";
    if (Array.isArray(value)) return "texts";
    return typeof value === "object" ? Object.keys(value).sort() : typeof value;
  };
  for (const words of every) {
    assert.deepEqual(Object.keys(words).sort(), Object.keys(english).sort());
    for (const key of Object.keys(english))
      assert.deepEqual(shape(words[key]), shape(english[key]), `${words.code}.${key}`);
    assert.equal(words.promiseHeads.length, 4);
    assert.equal(words.language, LANGUAGES[words.code]);
  }
  assert.equal(new Set(every.map(({ title }) => title)).size, every.length);
});

/** The numbers of a text, whatever marks the language has: digits alone, trailing zeros included. */
function numbersIn(text) {
  const quotes = text.replace(/“[^”]*”/g, ""); // labels are the organiser's
  return (quotes.match(/[0-9](?:[0-9.,\u202f\u00a0]*[0-9])?/g) ?? [])
    .map((number) => number.replace(/[^0-9]/g, ""))
    .sort();
}

test("promises and hints have the same numbers in every language", async () => {
  let compared = 0;
  for (const { plan: text } of plans) {
    const plan = await parsePlan(text);
    const told = every.map((words) => explain(plan, { menu: 0, answer: 0 }, words));
    told[0].sentences.forEach((sentence, place) => {
      for (const other of told.slice(1)) {
        assert.doesNotMatch(other.sentences[place], /undefined|NaN|\[object/);
        assert.deepEqual(
          numbersIn(other.sentences[place]),
          numbersIn(sentence),
          `${other.sentences[place]}\n${sentence}`,
        );
        compared += 1;
      }
    });
  }
  assert.ok(compared > 500);
  const altered = { ...every[1], times: () => "höchstens um das 1,00-fache" }; // a language that promises more is found
  const plan = await parsePlan(plans[0].plan);
  const [, , weaker] = explain(plan, { menu: 0, answer: 0 }, altered).sentences;
  assert.notDeepEqual(numbersIn(weaker), numbersIn(explain(plan, { menu: 0, answer: 0 }).sentences[2]));
});

test("the main promise about a batch has the same numbers in every language", async () => {
  const between = { collector: "A newspaper", relay: "relay.example.org" };
  for (const name of ["batch.json", "batch-of-blocks.json", "batch-of-laws.json", "batch-of-ranges.json"]) {
    const plan = await parsePlan(read(name).plan);
    const batch = batchNumbers(plan);
    assert.equal(batch.promises.length, plan.features.size + 1);
    const told = every.map((words) => {
      const { caption, rows, notes, fallback } = tellBatch(batch, words, plan.features, [], between);
      return [caption, fallback, ...notes, ...rows.flat()];
    });
    assert.ok(told[0].some((text) => text.includes(plan.counts.people.toLocaleString("en"))));
    for (const texts of told.slice(1)) {
      texts.forEach((text, place) => assert.deepEqual(numbersIn(text), numbersIn(told[0][place]), text));
      assert.doesNotMatch(texts.join(" "), /undefined|NaN|\[object/);
    }
  }
  assert.equal(batchNumbers(await parsePlan(read("menus.json").plan)), null);
});

test("what the page says of chances has the same numbers in every language", () => {
  const sentences = (words) => [
    words.verified("“x”", "58", "77"),
    words.verifiedAlways("“x”", "58"),
    words.verifiedAll("79"),
    words.chanceBefore("50"),
    words.chanceHeld("8"),
    words.chanceBroken("19"),
    words.drawnWith("12", "24"),
    words.ofHundred,
    words.otherAnswersNote,
  ];
  for (const words of every.slice(1)) {
    sentences(words).forEach((sentence, place) => {
      const own = numbersIn(sentences(english)[place]);
      assert.deepEqual([...new Set(numbersIn(sentence))], [...new Set(own)], sentence);
    });
    assert.ok(words.orMore.length && words.orLess.length);
  }
});

test("the language is the one that was chosen, else the first of the browser's that there is", () => {
  assert.equal(languageOf("fr", ["de"]), "fr");
  assert.equal(languageOf(null, ["pt-BR", "ar-EG", "de"]), "ar");
  assert.equal(languageOf("__proto__", ["constructor"]), "en");
  assert.equal(spoken("label", { de: "Wort", "pt-BR": "palavra" }, "pt"), "palavra");
  assert.equal(spoken("label", { de: "Wort" }, "fr"), "label");
  assert.equal(spoken("label", null, "fr"), "label");
});

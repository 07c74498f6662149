/** What leaves the device, in plain words. */

import { openOf, symbolsOf } from "../answer.js";
import { TOTAL, counted, least, most } from "../checks.js";
import { ENGLISH } from "./english.js";
import { operatorSays, promises } from "./promise.js";
import { tellHint, tellOpen } from "./tell.js";

/** @typedef {import("../reading/plan.js").Plan} Plan */
/** @typedef {import("../reading/questions.js").Question} Question */
/** @typedef {import("../answer.js").Answer} Answer */
/** @typedef {import("./english.js").Words} Words */
/** @typedef {import("./tell.js").Hinted} Hinted */
/** @typedef {import("./tell.js").Hint} Hint */
/** @typedef {import("./tell.js").Guarantee} Guarantee */
/** @typedef {{ sentences: string[], hints: Hint[], guarantees: Guarantee[] }} Explained */

const MOST_SHOWN = 4;

/**
 * What a report says: `sentences` for a person to read, the `hints` it gives, and the `guarantees`, with conditions.
 *
 * `hints` are `{ about, hint, least, most }`: the chance of giving this hint lies between `least` and `most`, whatever
 * the true values are. `guarantees` are those of `promises(plan)`, the last about all answers together.
 * @type {(plan: Plan, report: Answer | Answer[], words?: Words) => Explained}
 */
export function explain(plan, report, words = ENGLISH) {
  const hints = hintedNumbers(plan, report).map((numbers) => tellHint(numbers, words, plan.features));
  const guarantees = promises(plan, words);
  const sentences = [
    plan.separate ? words.separate(plan.menus.length) : words.chance(plan.menus.length),
    ...hints.map(({ sentence }) => sentence),
    ...tellOpen(openOf(plan, [report].flat()[0]), words, plan.open),
    ...guarantees.map(({ sentence }) => sentence),
    words.meaning,
    `${operatorSays(plan, words)}.`,
  ];
  return { sentences, hints, guarantees };
}

/**
 * What a report hints at for each question, as plain data that `tellHint` puts into words.
 * @type {(plan: Plan, report: Answer | Answer[]) => Hinted[]}
 */
export function hintedNumbers(plan, report) {
  const symbols = [report].flat().flatMap((each) => symbolsOf(plan, each));
  return symbols.map(([question, symbol]) => hintOf(plan, question, symbol));
}

/**
 * A symbol hints at the inputs that are most likely to give it.
 * @type {(plan: Plan, question: Question, symbol: number) => Hinted}
 */
function hintOf(plan, question, symbol) {
  const { features, levels, kind, cuts, table: index } = question;
  /** @type {(input: number) => number[]} */
  const digits = (input) => plan.blocks?.digits(question, input) ?? digitsOf(input, levels);
  const table = plan.tables[index];
  const weights = counted(table.levels).map((input) => table.weight(input, symbol));
  const highest = most(weights);
  const likely = counted(table.levels).filter((input) => weights[input] >= highest * (1 - 1e-6)); // rounded weights
  const known = likely.length < table.levels;
  return {
    features,
    levels,
    kind,
    cuts,
    digits: known ? likely.slice(0, MOST_SHOWN).map(digits) : [],
    rest: known ? Math.max(0, likely.length - MOST_SHOWN) : 0,
    least: least(weights) / TOTAL,
    most: highest / TOTAL,
  };
}

/** @type {(input: number, levels: readonly number[]) => number[]} */
function digitsOf(input, levels) {
  let rest = input;
  return levels.reduceRight((digits, size) => {
    digits.unshift(rest % size);
    rest = Math.floor(rest / size);
    return digits;
  }, /** @type {number[]} */ ([]));
}

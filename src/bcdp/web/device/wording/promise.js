/**
 * What a plan promises, on which condition, and what is left without it: words that follow from the plan's numbers alone.
 *
 * The text `correlation.source` is whatever the operator wrote; it is quoted as that and decides nothing. Python makes
 * the same English words (`present/promise.py`).
 */

import { byMenu, certify } from "../certificate.js";
import { levelsIfWrong } from "../verify.js";
import { counted, least, most } from "../checks.js";
import { stronger } from "../reading/correlation.js";
import { linkedMenus } from "../reading/questions.js";
import { ENGLISH } from "./english.js";
import { chanceOf, oddsOf } from "../exact.js";
import { quoted, tellPromise } from "./tell.js";

/** @typedef {import("../reading/plan.js").Plan} Plan */
/** @typedef {Omit<Plan, "correlation"> & { correlation: import("../reading/correlation.js").Correlation }} Assuming */
/** @typedef {import("../reading/features.js").Numeric} Numeric */
/** @typedef {import("./english.js").Words} Words */
/** @typedef {import("./tell.js").Condition} Condition */
/** @typedef {import("./tell.js").Guarantee} Guarantee */
/** @typedef {import("./tell.js").Promised} Promised */
/** @typedef {{ q: number, odds: number }} Within */

const LARGE_ODDS = 1e6;

/**
 * The promise for each feature, then that for all answers together, computed again whatever the plan claims:
 * `{ name, label, odds, becomes, told, condition, left, sentence }`. `odds` is the factor by which one report can raise
 * the odds of a guess, `becomes` the percentage that a guess at 50% can reach, `told` both in words, `left` what holds
 * if the condition fails, and `sentence` all of it.
 * @type {(plan: Plan, words?: Words) => Guarantee[]}
 */
export function promises(plan, words = ENGLISH) {
  const open = [...plan.open.values()].map(({ label }) => label);
  return promisedNumbers(plan).map((told) =>
    tellPromise(told, words, plan.features.get(/** @type {string} */ (told.name))?.label, open),
  );
}

/**
 * The numbers of these promises, as plain data that `tellPromise` puts into words.
 * @type {(plan: Plan) => Promised[]}
 */
export function promisedNumbers(plan) {
  if (!known.has(plan)) known.set(plan, computed(plan));
  return /** @type {Promised[]} */ (known.get(plan));
}

/** @type {WeakMap<Plan, Promised[]>} */
const known = new WeakMap(); // a plan of many joint tables takes seconds

/** @type {(plan: Plan) => Promised[]} */
function computed(plan) {
  const { correlation } = plan;
  const menus = linkedMenus(plan.menus);
  /** @type {(factor: number) => Assuming} */
  const assuming = (factor) => ({ ...plan, correlation: stronger(correlation, factor) });
  const [stated, twice, certain] = [plan, assuming(2), assuming(Infinity)].map(certify);
  const wrong = new Map(levelsIfWrong(plan));
  const [withoutLaws, unconditional] = [assuming(1), assuming(Infinity)].map(byMenu);
  const found = [...plan.features.keys()].map((name) => {
    const nothing = Math.max(certain.delta.get(name), stated.delta.get(name)); // the last digits of doubles
    const holds = oddsOf(nothing) === oddsOf(stated.delta.get(name)); // what is told, without a condition
    const level = holds ? nothing : stated.delta.get(name);
    const needed = counted(menus.length).filter((number) => unconditional.level(number, name) > level);
    const byQ = needed.filter((number) => withoutLaws.level(number, name) <= level);
    const bounds = byQ.map((number) => withoutLaws.bounds(number, name));
    const byLaws = byQ.length < needed.length;
    const doubled = byLaws || bounds.some(({ q }) => q > 0) ? oddsOf(twice.delta.get(name)) : null;
    const condition = conditionOf(plan, name, bounds, byLaws);
    const numbers = numbersOf(bounds);
    const times = plan.features.get(name).ifWrong?.times;
    const exceeded = times ? { times, odds: oddsOf(/** @type {number} */ (wrong.get(name))) } : null;
    const unconditionally = { nothing: oddsOf(nothing), nothingBecomes: chanceOf(nothing) };
    return { name, ...levelOf(level), condition, doubled, exceeded, numbers, ...unconditionally };
  });
  const whole = stated.epsilon;
  return [
    ...found,
    /** @type {Promised} */ ({
      name: null,
      ...levelOf(whole),
      condition: null,
      nothing: oddsOf(whole),
      nothingBecomes: chanceOf(whole),
    }),
  ];
}

/** @type {(level: number) => { odds: number, becomes: number }} */
const levelOf = (level) => ({ odds: oddsOf(level), becomes: chanceOf(level) });

/**
 * Where conditions come from, in the operator's own words, which nothing checks.
 * @type {(plan: Pick<Plan, "correlation">, words?: Words) => string}
 */
export const operatorSays = ({ correlation: { source } }, words = ENGLISH) => words.operatorSays(quoted(source));

/**
 * The numbers of the condition of a feature whose level rests on these bounds, and on laws that the plan states; null if
 * it rests on nothing.
 *
 * A q that the odds imply is not mentioned, nor odds if q is 0.
 * @type {(plan: Plan, name: string, bounds: Within[], byLaws: boolean) => Condition | null}
 */
export function conditionOf(plan, name, bounds, byLaws) {
  /** @type {(within: Within) => number} */
  const implied = ({ odds }) => (odds === Infinity ? 1 : (odds - 1) / (odds + 1));
  const points = ends(
    bounds.filter((within) => within.q < 1 && within.q < implied(within)).map(({ q }) => pointsOf(q)),
  );
  const times = ends(bounds.filter(({ q, odds }) => q > 0 && odds < Infinity).map(({ odds }) => timesOf(odds)));
  const block = (plan.blocks?.members(name).length ?? 1) > 1;
  return points || times || byLaws ? { points, times, byLaws, ends: coveredBy(plan, name), block } : null;
}

/**
 * The least and the most of some numbers; null if there are none.
 * @type {(numbers: readonly number[]) => number[] | null}
 */
const ends = (numbers) => (numbers.length ? [least(numbers), most(numbers)] : null);

/**
 * What is doubled where the condition is: the numbers that the bounds state.
 * @type {(bounds: Within[]) => "q" | "odds" | "both"}
 */
function numbersOf(bounds) {
  if (bounds.every(({ odds }) => odds === Infinity)) return "q";
  return bounds.every(({ q }) => q === 1) ? "odds" : "both";
}

/**
 * The ends of the ranges of which guesses are meant, if not all: what was measured by ranges speaks of these only.
 * @type {(plan: Plan, name: string) => (number | string)[] | null}
 */
function coveredBy({ correlation: { ranges }, features }, name) {
  if (!ranges.has(name)) return null;
  const { bounds, cuts, dateOf } = /** @type {Numeric} */ (features.get(name));
  return [bounds[0], ...cuts, bounds[1]].map((end) => dateOf?.(Math.ceil(end)) ?? Number(end.toPrecision(15)));
}

/**
 * A q in percentage points, rounded down to hundredths: a condition is never stated weaker than it is.
 * @type {(q: number) => number}
 */
function pointsOf(q) {
  let hundredths = Math.floor(10_000 * q) + 1;
  while (hundredths / 10_000 > q) hundredths -= 1;
  return hundredths / 100;
}

/**
 * Odds rounded down to hundredths, large ones to whole numbers: a condition is never stated weaker than it is.
 * @type {(odds: number) => number}
 */
function timesOf(odds) {
  if (odds >= LARGE_ODDS) return Math.floor(odds);
  let hundredths = Math.floor(100 * odds) + 1;
  while (hundredths / 100 > odds) hundredths -= 1;
  return hundredths / 100;
}

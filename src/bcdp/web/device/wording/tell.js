/** Numbers that the device computed, in words: promises, hints and values. No number is computed here. */

import { ENGLISH } from "./english.js";

/** @typedef {import("./english.js").Words} Words */
/** @typedef {import("./english.js").Two} Two */
/** @typedef {import("../reading/features.js").Feature} Feature */
/** @typedef {import("../reading/features.js").Listed} Listed */
/**
 * @template T
 * @typedef {import("../reading/features.js").Named<T>} Named
 */
/** @typedef {Pick<Listed, "type" | "values" | "plain" | "own" | "sets"> & { valueWords?: string[] | null }} Shown */
/** @typedef {readonly number[]} Ends the least and the most */
/** @typedef {{ points: Ends | null, times: Ends | null, byLaws: boolean, ends: (number | string)[] | null, block: boolean }} Condition */
/**
 * @typedef {{ name: string | null, odds: number, becomes: number, condition: Condition | null, doubled: number | null,
 *   exceeded?: { times: number, odds: number } | null, numbers: "q" | "odds" | "both", nothing: number,
 *   nothingBecomes: number }} Promised
 */
/**
 * @typedef {{ name: string | null, label: string, odds: number, becomes: number, told: string, condition: string,
 *   left: string, sentence: string }} Guarantee
 */
/**
 * @typedef {Pick<import("../reading/questions.js").Question, "features" | "levels" | "kind" | "cuts"> & {
 *   digits: number[][], rest: number, least: number, most: number }} Hinted
 */
/** @typedef {{ about: string, hint: string, least: number, most: number, range: [string, string], sentence: string }} Hint */
/** @typedef {{ size: number, cuts?: readonly number[] | null }} Steps */

const MOST_QUOTED = 300; // characters of what the operator wrote
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A text inside a sentence: what runs from right to left keeps to itself, and no number next to it is turned round.
 * @type {(text: string) => string}
 */
export const isolated = (text) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

/**
 * What somebody wrote, between quotation marks that it cannot leave: on one line, nothing invisible but the joiners of a
 * script, not too long.
 * @type {(text: string) => string}
 */
export function quoted(text) {
  const letters = Array.from(text);
  const shown = letters.length > MOST_QUOTED ? `${letters.slice(0, MOST_QUOTED - 3).join("")}...` : text;
  const plain = shown.replace(/[“”]/g, '"');
  /** @type {(letter: string) => string} */
  const hex = (letter) => `\\u{${/** @type {number} */ (letter.codePointAt(0)).toString(16)}}`;
  return `“${isolated(plain.replace(/(?![ \u200c\u200d])[\p{C}\p{Z}]/gu, hex))}”`;
}

/**
 * The numbers of a promise in words; `label` names the feature, and is not needed for all answers together; `open` has
 * the labels of the open features, within whose groups every condition is to hold.
 * @type {(promise: Promised, words: Words, label?: string, open?: readonly string[]) => Guarantee}
 */
export function tellPromise(promised, words, label, open = []) {
  const { name, odds, becomes, condition, doubled, exceeded, numbers, nothing } = promised;
  const about = name === null ? words.all : /** @type {string} */ (label);
  /** @type {(factor: number) => string} */
  const times = (factor) => (factor === Infinity ? words.anyTimes : words.times(words.factor(factor)));
  const told = words.told(times(odds), words.percent(becomes, 1));
  const stated = condition === null ? words.nothingAssumed : tellCondition(condition, words, open);
  const left = () => {
    if (exceeded) {
      const factor = words.plain(exceeded.times);
      return words.leftExceeded(times(exceeded.odds), factor, words.exceeded[numbers], times(nothing));
    }
    return doubled === null
      ? words.left(times(nothing))
      : words.leftDoubled(times(doubled), words.doubled[numbers], times(nothing));
  };
  const rest = condition === null ? words.unconditional : left();
  const sentence = words.promise(quoted(about), told, stated) + (condition === null ? "" : words.otherwise(rest));
  return { name, label: about, odds, becomes, told, condition: stated, left: rest, sentence };
}

/** @type {(condition: Condition, words: Words, open: readonly string[]) => string} */
export function tellCondition({ points, times, byLaws, ends, block }, words, open) {
  const { plain } = words;
  /** @type {(ends: Ends, one: (text: string, several: boolean) => string, two: Two) => string} */
  const between = ([low, high], one, two) => (low < high ? two(plain(low), plain(high)) : one(plain(high), high !== 1));
  /** @type {string[]} */
  const parts = [];
  if (points) parts.push(points[1] === 0 ? words.unmoved : between(points, words.moved, words.movedBetween));
  if (times) parts.push(between(times, words.learned, words.learnedBetween));
  if (byLaws) parts.push(words.byLaws);
  /** @type {(end: number | string) => string} */
  const written = (end) => (typeof end === "string" ? end : plain(end)); // a date is written already
  const ranges = ends?.slice(1).map((end, place) => words.range(written(ends[place]), written(end)));
  const within = open.length ? words.within(words.and(open.map(quoted))) : "";
  return words.condition(parts) + (block ? words.apart : "") + within + (ranges ? words.ranges(ranges) : "");
}

/**
 * The numbers of a hint in words; `features` have their labels, and the words of their values.
 * @type {(hint: Hinted, words: Words, features: Named<Feature>) => Hint}
 */
export function tellHint({ features: names, levels, kind, cuts, digits, rest, least, most }, words, features) {
  const joint = names.length > 1 && digits.length > 1; // each combination keeps to itself
  /** @type {(digits: readonly number[]) => string} */
  const told = ([...input]) => {
    if (kind === "product") {
      return (names.length === 1 ? words.square : words.product)(words.number((2 * input[0]) / (levels[0] - 1) - 1));
    }
    /** @type {(place: number) => Steps} */
    const steps = (place) => ({ size: levels[place], cuts: cuts?.[place] });
    const parts = input.map((digit, place) => digitWord(features.get(names[place]), digit, steps(place), words));
    return joint ? `(${parts.join(" · ")})` : words.and(parts);
  };
  const shown = digits.map(told);
  const about = words.and(names.map((name) => quoted(features.get(name).label)));
  const hint = shown.length ? words.or(rest ? [...shown, words.more(rest)] : shown) : words.nothing;
  const [low, high] = [rounded(least, Math.floor), rounded(most, Math.ceil)].map((share) => words.percent(share, 0));
  return { about, hint, least, most, range: [low, high], sentence: words.hint(about, hint, low, high) };
}

/**
 * A sentence for each open value of a report, which is sent as it is; `features` have their labels.
 * @type {(places: ReadonlyMap<string, number>, words: Words, features: Named<Listed>) => string[]}
 */
export const tellOpen = (places, words, features) =>
  [...places].map(([name, place]) =>
    words.openSent(quoted(features.get(name).label), isolated(valueWord(features.get(name), place, words))),
  );

/** @type {(feature: Feature, digit: number, steps: Steps, words: Words) => string} */
function digitWord(feature, digit, { size, cuts }, words) {
  if (feature.type !== "numeric") return isolated(valueWord(feature, digit, words));
  const [low, high] = feature.bounds;
  /** @type {(number: number) => string} */
  const written = (number) => feature.dateOf?.(number) ?? words.number(number);
  const first = feature.dates ? Math.ceil : Number; // of the dates from a cut on
  const rounded = size - feature.extras; // then come no answer and not applicable
  if (digit >= rounded) return feature.own && digit === rounded ? words.noAnswer : words.notAsked;
  if (cuts) return words.range(...[low, ...cuts, high].slice(digit, digit + 2).map((end) => written(first(end))));
  return words.near(written(low + ((high - low) * digit) / (rounded - 1)));
}

/**
 * The value of a feature in words; the usual values of a binary one are no and yes.
 * @type {(feature: Shown, digit: number, words?: Words) => string}
 */
export function valueWord({ type, values, plain, own, sets, valueWords }, digit, words = ENGLISH) {
  if (sets && digit < sets.length) {
    return words.and(sets[digit].map((item) => valueWords?.[item] ?? String(values[item]))) || words.noneTicked;
  }
  if (sets) return own && digit === sets.length ? words.noAnswer : words.notAsked;
  if (digit >= values.length) return own && digit === values.length ? words.noAnswer : words.notAsked;
  if (valueWords) return valueWords[digit];
  return type === "binary" && plain ? [words.no, words.yes][digit] : String(values[digit]);
}

/**
 * A chance in percent, rounded to the side of what is claimed; small ones with two decimals.
 * @type {(chance: number, round: (number: number) => number) => number}
 */
function rounded(chance, round) {
  const digits = chance < 0.1 ? 100 : 1;
  return round(chance * 100 * digits) / digits;
}

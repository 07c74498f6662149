/**
 * The words of promises and hints in English, from numbers that the device computed. Another language is an object with
 * the same keys; what they say comes from the same numbers.
 */

import { pythonFloat } from "../reading/spelling.js";
import { SENTENCES } from "./sentences.js";

/** @typedef {(text: string) => string} One a sentence about one text */
/** @typedef {(low: string, high: string) => string} Two a sentence about two */
/** @typedef {(parts: readonly string[]) => string} Many */
/**
 * @typedef {{ number: (value: number) => string, factor: (odds: number) => string,
 *   percent: (value: number, digits: number) => string, plain: (value: number) => string }} Spelling
 */
/**
 * @typedef {Spelling & Record<"all" | "nothingAssumed" | "noAnswer" | "apart" | "notAsked" | "noneTicked" | "meaning" | "anyTimes" | "unmoved" | "byLaws" |
 *   "unconditional" | "nothing" | "no" | "yes", string> & Record<"operatorSays" | "times" | "learned" | "within" | "left" |
 *   "otherwise" | "near" | "square" | "product", One> & Record<"told" | "movedBetween" | "learnedBetween" | "openSent", Two> & Record<"condition" | "ranges" | "and" | "or", Many> & { doubled: Record<"q" | "odds" | "both", string>, exceeded: Record<"q" | "odds" | "both", string>,
 *   moved: (points: string, several: boolean) => string, chance: (menus: number) => string, separate: (messages: number) => string, more: (count: number) => string,
 *   leftDoubled: (times: string, numbers: string, nothing: string) => string,
 *   leftExceeded: (times: string, factor: string, numbers: string, nothing: string) => string,
 *   promise: (label: string, told: string, condition: string) => string,
 *   range: (...ends: string[]) => string,
 *   hint: (about: string, hint: string, least: string, most: string) => string }} Words
 */

/**
 * A sentence with these parts in place of what is in braces; what a part has in braces stays.
 * @type {(sentence: string, parts: Record<string, string>) => string}
 */
const filled = (sentence, parts) => sentence.replace(/\{(\w+)\}/g, (_, name) => parts[name]);

/**
 * How numbers are written in a language: counts and places, factors, percentages, and whatever has all its digits.
 * @type {(language: string) => Spelling}
 */
export const spelledIn = (language) => ({
  number: (value) => value.toLocaleString(language),
  factor: (odds) => odds.toLocaleString(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
  percent: (value, digits) =>
    value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, 2) }),
  plain: (value) => value.toLocaleString(language, { maximumSignificantDigits: 17 }),
});

/** @type {Words} */
export const ENGLISH = {
  ...spelledIn("en"),
  plain: (value) => pythonFloat(value).replace(/\.0$/, ""), // as Python writes them
  all: SENTENCES.all,
  nothingAssumed: SENTENCES.nothingAssumed,
  noAnswer: "No answer",
  notAsked: "Not asked",
  apart: SENTENCES.apart,
  noneTicked: "None of these",
  meaning: SENTENCES.meaning,
  operatorSays: (said) => filled(SENTENCES.operatorSays, { said }),
  times: (factor) => filled(SENTENCES.times, { factor }),
  anyTimes: filled(SENTENCES.times, { factor: "any" }),
  told: (times, percent) => filled(SENTENCES.told, { times, chance: `${percent}%` }),
  unmoved: SENTENCES.unmoved,
  moved: (points, several) => filled(several ? SENTENCES.moved : SENTENCES.movedOne, { points }),
  movedBetween: (low, high) => filled(SENTENCES.movedBetween, { low, high }),
  learned: (times) => filled(SENTENCES.learned, { times }),
  learnedBetween: (low, high) => filled(SENTENCES.learnedBetween, { low, high }),
  byLaws: SENTENCES.byLaws,
  condition: (parts) => filled(SENTENCES.condition, { parts: parts.join(", and ") }),
  within: (labels) => filled(SENTENCES.within, { labels }),
  openSent: (label, value) => `${label} is sent as it is, not protected: ${value}.`,
  range: (low, high) => `${low} to ${high}`,
  ranges: (ranges) => filled(SENTENCES.ranges, { ranges: ranges.join(", ") }),
  doubled: { q: "q", odds: "the odds", both: "q and odds" },
  leftDoubled: (times, numbers, nothing) => filled(SENTENCES.leftDoubled, { times, numbers, nothing }),
  exceeded: { q: "q", odds: "odds - 1", both: "q and odds - 1" },
  leftExceeded: (times, factor, numbers, nothing) =>
    filled(SENTENCES.leftExceeded, { times, factor, numbers, nothing }),
  left: (nothing) => filled(SENTENCES.left, { nothing }),
  unconditional: SENTENCES.unconditional,
  promise: (label, told, condition) => filled(SENTENCES.promise, { label, told, condition }),
  otherwise: (left) => filled(SENTENCES.otherwise, { left }),
  chance: (menus) =>
    `Chance alone, not what you entered, chose what to ask${menus > 1 ? `, out of ${menus} menus` : ""}.`,
  separate: (messages) =>
    `Your device sends ${messages} separate messages, one for each hint below. Nothing in them shows that they come from ` +
    "one person.",
  hint: (about, hint, least, most) =>
    `About ${about}, your report hints at ${hint}. Your device gives this hint with a chance of at least ${least}% and ` +
    `at most ${most}%, whatever the truth is.`,
  nothing: "nothing",
  more: (count) => `${count} more`,
  and: (parts) => listed(parts, "and"),
  or: (parts) => listed(parts, "or"),
  near: (value) => `near ${value}`,
  square: (value) => `a square near ${value} (of -1 to 1)`,
  product: (value) => `a product near ${value} (of -1 to 1)`,
  no: "no",
  yes: "yes",
};

/**
 * Parts in a row, the last after a word.
 * @type {(parts: readonly string[], word: string) => string}
 */
export function listed(parts, word) {
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} ${word} ${parts.at(-1)}` : parts[0];
}

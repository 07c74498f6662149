/**
 * The words of promises and hints in English, from numbers that the device computed. Another language is an object with
 * the same keys; what they say comes from the same numbers.
 */

import { pythonFloat } from "./spelling.js";

const NOTHING_ASSUMED = "with nothing assumed, however the answers are related";

/** How numbers are written in a language: counts and places, factors, percentages, and whatever has all its digits. */
export const spelledIn = (language) => ({
  number: (value) => value.toLocaleString(language),
  factor: (odds) => odds.toLocaleString(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
  percent: (value, digits) =>
    value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: Math.max(digits, 2) }),
  plain: (value) => value.toLocaleString(language, { maximumSignificantDigits: 17 }),
});

export const ENGLISH = {
  ...spelledIn("en"),
  plain: (value) => pythonFloat(value).replace(/\.0$/, ""), // as Python writes them
  all: "all answers together",
  nothingAssumed: NOTHING_ASSUMED,
  noAnswer: "No answer",
  meaning:
    "A condition is about what the guesser knows: between people who differ in the answer, the chance of anything " +
    "about their other answers differs by no more than the condition says, in percentage points (q) or as a factor " +
    "(odds). Against somebody who knows of closer links, in general or for one person, only the promise with nothing " +
    "assumed holds. Each promise is about one answer and one report.",
  operatorSays: (said) => `Where conditions come from, the operator says and nobody has checked: ${said}`,
  times: (factor) => `at most ${factor} times`,
  anyTimes: "at most any times",
  told: (times, percent) => `${times} (a guess at 50% becomes at most ${percent}%)`,
  unmoved: "the other answers do not move with it at all (q = 0)",
  moved: (points, several) =>
    `the other answers move by at most q = ${points} percentage point${several ? "s" : ""} with it`,
  movedBetween: (low, high) =>
    `the other answers move by at most q = ${low} to ${high} percentage points with it, as the plan lists`,
  learned: (times) => `knowing all the other answers could move the odds of it at most ${times} times`,
  learnedBetween: (low, high) =>
    `knowing all the other answers could move the odds of it at most ${low} to ${high} times, as the plan lists`,
  byLaws: "the other answers depend on it as the plan's table of shares says",
  condition: (parts) => `if ${parts.join(", and ")}`,
  within: (labels) => `, among people with the same ${labels}`,
  openSent: (label, value) => `${label} is sent as it is, not protected: ${value}.`,
  range: (low, high) => `${low} to ${high}`,
  ranges: (ranges) => `, for guesses which of these ranges it is in and no finer ones: ${ranges.join(", ")}`,
  doubled: { q: "at twice q", odds: "at twice the odds", both: "at twice q and odds" },
  leftDoubled: (times, doubled, nothing) => `${times} ${doubled}, ${nothing} with nothing assumed`,
  left: (nothing) => `${nothing} with nothing assumed`,
  unconditional: "it has no condition",
  promise: (label, told, condition) =>
    `Whoever sees the report can raise the odds of a guess about ${label} ${told}, ${condition}.`,
  otherwise: (left) => ` If that is wrong: ${left}.`,
  chance: (menus) =>
    `Chance alone, not what you entered, chose what to ask${menus > 1 ? `, out of ${menus} menus` : ""}.`,
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

/** Parts in a row, the last after a word. */
export function listed(parts, word) {
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} ${word} ${parts.at(-1)}` : parts[0];
}

/** What leaves the device, in plain words. */

import { symbolsOf } from "./answer.js";
import { TOTAL, counted, least, most } from "./checks.js";
import { ENGLISH } from "./english.js";
import { operatorSays, promises, quoted } from "./promise.js";

const MOST_SHOWN = 4;

/**
 * What a report says: `sentences` for a person to read, the `hints` it gives, and the `guarantees`, with conditions.
 *
 * `hints` are `{ about, hint, least, most }`: the chance of giving this hint lies between `least` and `most`, whatever
 * the true values are. `guarantees` are those of `promises(plan)`, the last about all answers together.
 */
export function explain(plan, report, words = ENGLISH) {
  const hints = hintedNumbers(plan, report).map((numbers) => tellHint(numbers, words, plan.features));
  const guarantees = promises(plan, words);
  const sentences = [
    words.chance(plan.menus.length),
    ...hints.map(({ sentence }) => sentence),
    ...guarantees.map(({ sentence }) => sentence),
    words.meaning,
    `${operatorSays(plan, words)}.`,
  ];
  return { sentences, hints, guarantees };
}

/** What a report hints at for each question, as plain data that `tellHint` puts into words. */
export function hintedNumbers(plan, report) {
  return symbolsOf(plan, report).map(([question, symbol]) => hintOf(plan, question, symbol));
}

/** A symbol hints at the input levels that are most likely to give it. */
function hintOf(plan, { features, levels, kind, table: index }, symbol) {
  const table = plan.tables[index];
  const weights = counted(table.levels).map((level) => table.weight(level, symbol));
  const highest = most(weights);
  const likely = counted(table.levels).filter((level) => weights[level] >= highest * (1 - 1e-6)); // rounded weights
  const known = likely.length < table.levels;
  return {
    features,
    levels,
    kind,
    digits: known ? likely.slice(0, MOST_SHOWN).map((level) => digitsOf(level, levels)) : [],
    rest: known ? Math.max(0, likely.length - MOST_SHOWN) : 0,
    least: least(weights) / TOTAL,
    most: highest / TOTAL,
  };
}

function digitsOf(level, levels) {
  let rest = level;
  return levels.reduceRight((digits, size) => {
    digits.unshift(rest % size);
    rest = Math.floor(rest / size);
    return digits;
  }, []);
}

/** The numbers of a hint in words; `features` have their labels, and the words of their values. */
export function tellHint({ features: names, levels, kind, digits, rest, least, most }, words, features) {
  const told = ([...level]) => {
    if (kind === "product") {
      return (names.length === 1 ? words.square : words.product)(words.number((2 * level[0]) / (levels[0] - 1) - 1));
    }
    return words.and(level.map((digit, place) => levelWord(features.get(names[place]), digit, levels[place], words)));
  };
  const shown = digits.map(told);
  const about = words.and(names.map((name) => quoted(features.get(name).label)));
  const hint = shown.length ? words.or(rest ? [...shown, words.more(rest)] : shown) : words.nothing;
  const [low, high] = [rounded(least, Math.floor), rounded(most, Math.ceil)].map((share) => words.percent(share, 0));
  return { about, hint, least, most, sentence: words.hint(about, hint, low, high) };
}

function levelWord(feature, digit, size, words) {
  if (feature.type !== "numeric") return valueWord(feature, digit, words);
  const [low, high] = feature.bounds;
  return words.near(words.number(low + ((high - low) * digit) / (size - 1)));
}

/** The value of a feature in words; the usual values of a binary one are no and yes. */
export function valueWord({ type, values, plain, valueWords }, digit, words = ENGLISH) {
  if (valueWords) return valueWords[digit];
  return type === "binary" && plain ? [words.no, words.yes][digit] : String(values[digit]);
}

/** A chance in percent, rounded to the side of what is claimed; small ones with two decimals. */
function rounded(chance, round) {
  const digits = chance < 0.1 ? 100 : 1;
  return round(chance * 100 * digits) / digits;
}

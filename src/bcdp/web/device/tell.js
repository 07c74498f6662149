/** Numbers that the device computed, in words: promises, hints and values. No number is computed here. */

import { ENGLISH } from "./english.js";

const MOST_QUOTED = 300; // characters of what the operator wrote

/** What somebody wrote, between quotation marks that it cannot leave: on one line, nothing invisible, not too long. */
export function quoted(text) {
  const letters = Array.from(text);
  const shown = letters.length > MOST_QUOTED ? `${letters.slice(0, MOST_QUOTED - 3).join("")}...` : text;
  const plain = shown.replace(/[“”]/g, '"');
  return `“${plain.replace(/(?! )[\p{C}\p{Z}]/gu, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`)}”`;
}

/**
 * The numbers of a promise in words; `label` names the feature, and is not needed for all answers together; `open` has
 * the labels of the open features, within whose groups every condition is to hold.
 */
export function tellPromise({ name, odds, becomes, condition, doubled, numbers, nothing }, words, label, open = []) {
  const about = name === null ? words.all : label;
  const times = (factor) => (factor === Infinity ? words.anyTimes : words.times(words.factor(factor)));
  const told = words.told(times(odds), words.percent(becomes, 1));
  const stated = condition === null ? words.nothingAssumed : tellCondition(condition, words, open);
  const left = () =>
    doubled === null
      ? words.left(times(nothing))
      : words.leftDoubled(times(doubled), words.doubled[numbers], times(nothing));
  const rest = condition === null ? words.unconditional : left();
  const sentence = words.promise(quoted(about), told, stated) + (condition === null ? "" : words.otherwise(rest));
  return { name, label: about, odds, becomes, told, condition: stated, left: rest, sentence };
}

function tellCondition({ points, times, byLaws, ends }, words, open) {
  const { plain } = words;
  const between = ([low, high], one, two) => (low < high ? two(plain(low), plain(high)) : one(plain(high), high !== 1));
  const parts = [];
  if (points) parts.push(points[1] === 0 ? words.unmoved : between(points, words.moved, words.movedBetween));
  if (times) parts.push(between(times, words.learned, words.learnedBetween));
  if (byLaws) parts.push(words.byLaws);
  const ranges = ends?.slice(1).map((end, place) => words.range(plain(ends[place]), plain(end)));
  const within = open.length ? words.within(words.and(open.map(quoted))) : "";
  return words.condition(parts) + within + (ranges ? words.ranges(ranges) : "");
}

/** The numbers of a hint in words; `features` have their labels, and the words of their values. */
export function tellHint({ features: names, levels, kind, cuts, digits, rest, least, most }, words, features) {
  const told = ([...input]) => {
    if (kind === "product") {
      return (names.length === 1 ? words.square : words.product)(words.number((2 * input[0]) / (levels[0] - 1) - 1));
    }
    const steps = (place) => ({ size: levels[place], cuts: cuts?.[place] });
    return words.and(input.map((digit, place) => digitWord(features.get(names[place]), digit, steps(place), words)));
  };
  const shown = digits.map(told);
  const about = words.and(names.map((name) => quoted(features.get(name).label)));
  const hint = shown.length ? words.or(rest ? [...shown, words.more(rest)] : shown) : words.nothing;
  const [low, high] = [rounded(least, Math.floor), rounded(most, Math.ceil)].map((share) => words.percent(share, 0));
  return { about, hint, least, most, sentence: words.hint(about, hint, low, high) };
}

/** A sentence for each open value of a report, which is sent as it is; `features` have their labels. */
export const tellOpen = (places, words, features) =>
  [...places].map(([name, place]) =>
    words.openSent(quoted(features.get(name).label), valueWord(features.get(name), place, words)),
  );

function digitWord(feature, digit, { size, cuts }, words) {
  if (feature.type !== "numeric") return valueWord(feature, digit, words);
  const [low, high] = feature.bounds;
  if (cuts) return words.range(...[low, ...cuts, high].slice(digit, digit + 2).map((end) => words.number(end)));
  const rounded = size - Number(feature.own); // then the last is no answer
  if (digit === rounded) return words.noAnswer;
  return words.near(words.number(low + ((high - low) * digit) / (rounded - 1)));
}

/** The value of a feature in words; the usual values of a binary one are no and yes. */
export function valueWord({ type, values, plain, valueWords }, digit, words = ENGLISH) {
  if (digit === values.length) return words.noAnswer; // a value of its own
  if (valueWords) return valueWords[digit];
  return type === "binary" && plain ? [words.no, words.yes][digit] : String(values[digit]);
}

/** A chance in percent, rounded to the side of what is claimed; small ones with two decimals. */
function rounded(chance, round) {
  const digits = chance < 0.1 ? 100 : 1;
  return round(chance * 100 * digits) / digits;
}

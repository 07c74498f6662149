/** Lists to tick: the sets of items that may be ticked are the values; an item may have a delta of its own. */

import { InputError, counted, entries, keys, level, refuse, whole } from "../checks.js";

/** @typedef {import("./features.js").Listed} Listed */
/** @typedef {{ sets: number[][], codes: Map<string, number>, items: [string, number, number][] }} List */

const MOST_ITEMS = 30;
const MOST_SETS = 1024;
const MOST_AIMED = 256; // sets, where an item has a delta of its own
const SEPARATORS = [";", "|", ","];
export const NONE = "none of these";

/**
 * The sets of items that may be ticked, small ones first, the code of each by its items, and the items with a delta of their
 * own, with their number. The feature learns how many inputs it has.
 * @type {(name: string, feature: Listed) => List}
 */
export function readList(name, feature) {
  const { values, missing, own, extras, delta } = feature;
  const { at_most: stated = null, items: strict = null } = feature.stated;
  const path = `features.${name}`;
  if (values.length < 2 || values.length > MOST_ITEMS || (missing !== null && !own)) {
    throw refuse(path, values, `2 to ${MOST_ITEMS} items, and own for missing or nothing`);
  }
  const most = stated === null ? values.length : whole(`${path}.at_most`, stated, 1, values.length);
  const sets = setsOf(values.length, most);
  Object.assign(feature, { inputs: sets.length + extras, sets, most });
  const names = values.map(String);
  /** @type {[string, number, number][]} */
  const items = (strict === null ? [] : entries(`${path}.items`, strict)).map(([item, demand]) => {
    keys(`${path}.items.${item}`, demand, ["delta"]);
    if (!names.includes(item) || level(`${path}.items.${item}.delta`, demand.delta) > delta) {
      throw refuse(`${path}.items.${item}`, demand, "an item of the list, with a delta of at most the list's");
    }
    return [item, names.indexOf(item), demand.delta];
  });
  if (strict !== null && (!items.length || sets.length > MOST_AIMED)) {
    throw refuse(`${path}.items`, strict, `some of the items, where at most ${MOST_AIMED} sets may be ticked`);
  }
  return { sets, codes: new Map(sets.map((ticked, code) => [String(ticked), code])), items };
}

/** @type {(items: number, most: number) => number[][]} */
function setsOf(items, most) {
  /** @type {number[][]} */
  let last = [[]];
  const sets = [...last];
  for (let size = 1; size <= most; size += 1) {
    last = last.flatMap((ticked) => {
      const first = ticked.length ? ticked[ticked.length - 1] + 1 : 0;
      return counted(items - first).map((more) => [...ticked, first + more]);
    });
    sets.push(...last);
    if (sets.length > MOST_SETS) throw refuse("at_most", most, `so few that at most ${MOST_SETS} sets may be ticked`);
  }
  return sets;
}

/**
 * The code of what is ticked: a list of items, or a text with separators. Nothing is none of them, unless no answer is a
 * value of its own.
 * @type {(name: string, feature: Listed, list: List, value: any) => number}
 */
export function tickedCode(name, { values, own }, { sets, codes }, value) {
  if (value === undefined || value === null || value === "" || Number.isNaN(value)) return own ? sets.length : 0;
  const names = values.map(String);
  const parts = Array.isArray(value) ? value : split(String(value), names);
  const words = parts.map((part) => String(part).trim());
  if (words.length === 1 && words[0] === NONE && !names.includes(NONE)) return 0;
  const numbers = [...new Set(words.map((one) => names.indexOf(one)))].sort((a, b) => a - b);
  if (numbers.includes(-1)) throw refuse(name, value, `items among ${names.slice(0, 12).join(", ")}`);
  const code = codes.get(String(numbers));
  if (code === undefined) throw new InputError(`${name}: got more items than may be ticked; accepted: fewer`);
  return code;
}

/** @type {(text: string, names: readonly string[]) => string[]} */
function split(text, names) {
  if (names.includes(text)) return [text];
  const separator = SEPARATORS.find((mark) => text.includes(mark)) ?? ";";
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean);
}

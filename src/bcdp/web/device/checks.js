/** What every part checks of its input: one kind of error, a few kinds of values. */

export const TOTAL = 2 ** 32;
export const MOST_VALUES = 10_000; // of an open feature, and inputs of a response
export const MOST_LISTED = 100_000; // values of a feature
export const MOST_INTEGERS = 2 ** 20; // whole numbers from one to another
export const MOST_CELLS = 2 ** 22;
const LONGEST_TEXT = 2000;
const UNFILLED = "FILL"; // what an unfinished policy has in place of a word

/** @typedef {(path: string, value: any) => void} Check */

/** Input that cannot be used; the message names the field, its value and what is accepted. */
export class InputError extends Error {
  name = "InputError";
}

/**
 * An `InputError` that names the field, its value and what is accepted, to be thrown.
 * @type {(name: string, value: unknown, accepted: string) => InputError}
 */
export function refuse(name, value, accepted) {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const shown = text.length > 200 ? `${text.slice(0, 197)}...` : text;
  return new InputError(`${name}: got ${shown}; accepted: ${accepted}`);
}

/**
 * The value itself, if it is a whole number from `least` to `most`.
 * @type {(path: string, value: any, least: number, most: number) => number}
 */
export function whole(path, value, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw refuse(path, value, `a whole number from ${least} to ${most}`);
  }
  return value;
}

/**
 * The value itself, if it is a level in nats.
 * @type {(path: string, value: any) => number}
 */
export function level(path, value) {
  if (!(Number.isFinite(value) && value >= 0)) throw refuse(path, value, "a finite number of at least 0");
  return value;
}

/**
 * The value itself, if it is a text that somebody wrote: of so many letters, and not left to be filled in.
 * @type {(path: string, value: any, least?: number, most?: number) => string}
 */
export function text(path, value, least = 0, most = Infinity) {
  if (typeof value !== "string" || value.length < least || Array.from(value).length > most || value === UNFILLED) {
    throw refuse(path, value, `text of ${least} to ${most} letters, not ${UNFILLED}`);
  }
  return value;
}

/**
 * The value itself, if it is a text for people to read.
 * @type {(path: string, value: unknown) => string}
 */
export const shown = (path, value) => text(path, value, 1, LONGEST_TEXT);

/**
 * Whether something is a list of numbers inside some bounds, at least one, each above the one before it.
 * @type {(stated: any, bounds: readonly number[] | undefined) => boolean}
 */
export function areCuts(stated, bounds) {
  if (!Array.isArray(stated) || !stated.length || !bounds) return false;
  const ends = [bounds[0], ...stated, bounds[1]];
  return ends.every((end, place) => Number.isFinite(end) && (place === 0 || ends[place - 1] < end));
}

/**
 * The value itself, if it is a list of at least one of these names, each once.
 * @type {(path: string, value: unknown, known: readonly string[]) => string[]}
 */
export function namesAmong(path, value, known) {
  const names = list(path, value, 1);
  if (new Set(names).size !== names.length || !names.every((name) => known.includes(name))) {
    throw refuse(path, value, `different names among ${known.join(", ")}`);
  }
  return names;
}

/**
 * The names and values of an object.
 * @type {(path: string, document: any) => [string, any][]}
 */
export function entries(path, document) {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw refuse(path, document, "an object");
  }
  return Object.entries(document);
}

/**
 * Refuses an object that has not exactly the required keys and perhaps optional ones.
 * @type {(path: string, document: any, required: readonly string[], optional?: readonly string[]) => void}
 */
export function keys(path, document, required, optional = []) {
  entries(path, document);
  const unknown = Object.keys(document).filter((key) => !required.includes(key) && !optional.includes(key));
  const absent = required.filter((key) => !Object.hasOwn(document, key));
  if (unknown.length || absent.length) {
    throw refuse(path, Object.keys(document), `the keys ${[...required, ...optional].join(", ")}`);
  }
}

/**
 * The value itself, if it is a list of at least so many entries.
 * @type {(path: string, value: any, least?: number) => any[]}
 */
export function list(path, value, least = 0) {
  if (!Array.isArray(value) || value.length < least) throw refuse(path, value, `a list of at least ${least} entries`);
  return value;
}

/**
 * A text in each of some languages, or null.
 * @type {(path: string, texts: any) => Record<string, string> | null}
 */
export function readTranslations(path, texts) {
  if (texts !== null) for (const [language, text] of languages(path, texts)) shown(`${path}.${language}`, text);
  return texts;
}

/**
 * In each of some languages a text for each of so many values, or null.
 * @type {(path: string, labels: any, size: number) => Record<string, string[]> | null}
 */
export function readValueLabels(path, labels, size) {
  if (labels === null) return null;
  for (const [language, words] of languages(path, labels)) {
    list(`${path}.${language}`, words).forEach((word) => shown(`${path}.${language}`, word));
    if (words.length !== size || new Set(words).size !== size) {
      throw refuse(`${path}.${language}`, words, `${size} different texts, one for each value`);
    }
  }
  return labels;
}

/** @type {(path: string, document: any) => [string, any][]} */
function languages(path, document) {
  const found = entries(path, document);
  if (!found.length || !found.every(([code]) => /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(code))) {
    throw refuse(path, Object.keys(document), "the codes of languages, such as de or pt-BR");
  }
  return found;
}

/** @type {(length: number) => number[]} */
export const counted = (length) => Array.from({ length }, (_, index) => index);
/** @type {(numbers: readonly number[]) => number} */
export const least = (numbers) => numbers.reduce((a, b) => (b < a ? b : a));
/** @type {(numbers: readonly number[]) => number} */
export const most = (numbers) => numbers.reduce((a, b) => (b > a ? b : a));

/**
 * Refuses what is not a probability.
 * @type {Check}
 */
export function checkShare(path, share) {
  if (!(typeof share === "number" && share >= 0 && share <= 1)) throw refuse(path, share, "numbers from 0 to 1");
}

/**
 * Refuses what is not an odds ratio of at least 1.
 * @type {Check}
 */
export function checkOdds(path, odds) {
  if (!(Number.isFinite(odds) && odds >= 1)) throw refuse(path, odds, "finite numbers of at least 1");
}

/**
 * Refuses to go through a table of more than 2^22 weights.
 * @type {(path: string, levels: number, symbols: number) => void}
 */
export function checkCells(path, levels, symbols) {
  if (levels * symbols > MOST_CELLS) throw refuse(path, `${levels} x ${symbols} weights`, `at most ${MOST_CELLS}`);
}

/** What every part checks of its input: one kind of error, a few kinds of values. */

export const TOTAL = 2 ** 32;
export const MOST_VALUES = 10_000;
export const MOST_CELLS = 2 ** 22;
const UNFILLED = "FILL"; // what an unfinished policy has in place of a word

/** Input that cannot be used; the message names the field, its value and what is accepted. */
export class InputError extends Error {
  name = "InputError";
}

/** An `InputError` in the house's form, to be thrown. */
export function refuse(name, value, accepted) {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  const shown = text.length > 200 ? `${text.slice(0, 197)}...` : text;
  return new InputError(`${name}: got ${shown}; accepted: ${accepted}`);
}

/** The value itself, if it is a whole number from `least` to `most`. */
export function whole(path, value, least, most) {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw refuse(path, value, `a whole number from ${least} to ${most}`);
  }
  return value;
}

/** The value itself, if it is a text that somebody wrote: of at least so many letters, and not left to be filled in. */
export function text(path, value, least = 0) {
  if (typeof value !== "string" || value.length < least || value === UNFILLED) {
    throw refuse(path, value, `text of at least ${least} letters, not ${UNFILLED}`);
  }
  return value;
}

/** Whether something is a list of numbers inside some bounds, at least one, each above the one before it. */
export function areCuts(stated, bounds) {
  if (!Array.isArray(stated) || !stated.length || !bounds) return false;
  const ends = [bounds[0], ...stated, bounds[1]];
  return ends.every((end, place) => Number.isFinite(end) && (place === 0 || ends[place - 1] < end));
}

/** The value itself, if it is a list of at least one of these names, each once. */
export function namesAmong(path, value, known) {
  const names = list(path, value, 1);
  if (new Set(names).size !== names.length || !names.every((name) => known.includes(name))) {
    throw refuse(path, value, `different names among ${known.join(", ")}`);
  }
  return names;
}

/** The names and values of an object. */
export function entries(path, document) {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw refuse(path, document, "an object");
  }
  return Object.entries(document);
}

/** Refuses an object that has not exactly the required keys and perhaps optional ones. */
export function keys(path, document, required, optional = []) {
  entries(path, document);
  const unknown = Object.keys(document).filter((key) => !required.includes(key) && !optional.includes(key));
  const absent = required.filter((key) => !Object.hasOwn(document, key));
  if (unknown.length || absent.length) {
    throw refuse(path, Object.keys(document), `the keys ${[...required, ...optional].join(", ")}`);
  }
}

/** The value itself, if it is a list of at least so many entries. */
export function list(path, value, least = 0) {
  if (!Array.isArray(value) || value.length < least) throw refuse(path, value, `a list of at least ${least} entries`);
  return value;
}

export const counted = (length) => Array.from({ length }, (_, index) => index);
export const least = (numbers) => numbers.reduce((a, b) => (b < a ? b : a));
export const most = (numbers) => numbers.reduce((a, b) => (b > a ? b : a));

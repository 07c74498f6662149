/** How Python spells numbers and documents: a plan's id is the hash of its one spelling. */

import { InputError } from "../checks.js";

// Control characters but the end of a line, halves of a pair, what Unicode calls default ignorable (of no width, of
// direction, variants, tags), separators, annotations, and joiners that are not between two letters that join.
const HIDDEN =
  /(?![\n\u200c\u200d])[\p{Cc}\p{Cs}\p{DI}\p{Zl}\p{Zp}\ufff9-\ufffb]|[\u200c\u200d](?![\u0620-\u0dff\u1000-\u109f\u1780-\u18af])|(^|[^\u0620-\u0dff\u1000-\u109f\u1780-\u18af])[\u200c\u200d]/u;
const WHOLE_PARTS = ["bcdp", "menus", "questions", "tables"];

/**
 * The document as Python writes it, which tells 2 from 2.0: in some places all numbers are whole, in the certificate none
 * is, and elsewhere each is what the text has in its place. Another spelling would be another id, and answered again.
 * @type {(document: unknown, text: string) => string}
 */
export function canonical(document, text) {
  const words = text.match(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g) ?? [];
  const tokens = words.filter((word) => !word.startsWith('"')).values();
  /** @type {(value: any, path: readonly string[]) => string} */
  const write = (value, path) => {
    if (typeof value === "number") return spelled(value, path, String(tokens.next().value));
    if (Array.isArray(value)) return `[${value.map((entry) => write(entry, path)).join(",")}]`;
    if (typeof value !== "object" || value === null) return quoted(value);
    const names = Object.keys(value).sort(byCodePoint);
    return `{${names.map((name) => `${quoted(name)}:${write(value[name], placeOf(path, name, value))}`).join(",")}}`;
  };
  return write(document, []);
}

/** @type {(value: any) => string} */
function quoted(value) {
  if (HIDDEN.test(value)) throw new InputError("an invisible letter");
  return JSON.stringify(value);
}

/**
 * The keys that lead to a value. Among a feature's, `missing` is "bounds" for a number, as it is one of the values else.
 * @type {(path: readonly string[], name: string, holder: { type?: unknown }) => string[]}
 */
function placeOf(path, name, { type }) {
  const ofFeature = path.length === 3 && path[0] === "collection" && path[1] === "features";
  return [...path, ofFeature && name === "missing" ? (type === "numeric" ? "bounds" : "values") : name];
}

/** @type {(number: number, path: readonly string[], token: string) => string} */
function spelled(number, path, token) {
  const [part, list, name, key] = path;
  const listed =
    list === "survey" ||
    list === "panel" ||
    (list === "counts" && name === "people") ||
    (list === "features" && ["values", "asked_if"].includes(key));
  const whole = WHOLE_PARTS.includes(part) && list !== "cuts"; // of a question, where steps of a number begin
  if (whole || (part === "collection" && listed)) return String(number);
  return part !== "certificate" && /^(0|-?[1-9][0-9]*)$/.test(token) ? token : pythonFloat(number);
}

/**
 * A number as Python writes it if it is no whole number by type: 1.0, 1e-05, 1e+16.
 * @type {(number: number) => string}
 */
export function pythonFloat(number) {
  const [digits, power] = number.toExponential().split("e");
  if (Number(power) < -4 || Number(power) > 15) return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  const plain = Object.is(number, -0) ? "-0" : String(number);
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** @type {(a: string, b: string) => number} */
function byCodePoint(a, b) {
  const [left, right] = [Array.from(a), Array.from(b)];
  const place = left.findIndex((character, index) => character !== right[index]);
  /** @type {(letters: string[]) => number} */
  const point = (letters) => letters[place]?.codePointAt(0) ?? -1;
  return place < 0 ? left.length - right.length : point(left) - point(right);
}

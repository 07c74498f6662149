/** How Python spells numbers and documents: a plan's id is the hash of its one spelling. */

import { InputError } from "./checks.js";

const WHOLE_PARTS = ["bcdp", "menus", "questions", "tables"];

/**
 * The document as Python writes it, which tells 2 from 2.0: in some places all numbers are whole, in the certificate none
 * is, and elsewhere each is what the text has in its place. Another spelling would be another id, and answered again.
 */
export function canonical(document, text) {
  const words = text.match(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g) ?? [];
  const tokens = words.filter((word) => !word.startsWith('"')).values();
  const write = (value, path) => {
    if (typeof value === "number") return spelled(value, path, tokens.next().value);
    if (Array.isArray(value)) return `[${value.map((entry) => write(entry, path)).join(",")}]`;
    if (typeof value !== "object" || value === null) return quoted(value);
    const names = Object.keys(value).sort(byCodePoint);
    return `{${names.map((name) => `${quoted(name)}:${write(value[name], placeOf(path, name, value))}`).join(",")}}`;
  };
  return write(document, []);
}

function quoted(value) {
  if (/\p{Surrogate}/u.test(value)) throw new InputError("half a surrogate pair");
  return JSON.stringify(value);
}

/** The keys that lead to a value. Among a feature's, `missing` is "bounds" for a number, as it is one of the values else. */
function placeOf(path, name, { type }) {
  const ofFeature = path.length === 3 && path[0] === "collection" && path[1] === "features";
  return [...path, ofFeature && name === "missing" ? (type === "numeric" ? "bounds" : "values") : name];
}

function spelled(number, path, token) {
  const [part, list, , key] = path;
  const counted = list === "tasks" && path[2] === "bins";
  const listed = counted || list === "survey" || (list === "features" && key === "values");
  const whole = WHOLE_PARTS.includes(part) && list !== "cuts"; // of a question, where steps of a number begin
  if (whole || (part === "collection" && listed)) return String(number);
  return part !== "certificate" && /^(0|-?[1-9][0-9]*)$/.test(token) ? token : pythonFloat(number);
}

/** A number as Python writes it if it is no whole number by type: 1.0, 1e-05, 1e+16. */
export function pythonFloat(number) {
  const [digits, power] = number.toExponential().split("e");
  if (power < -4 || power > 15) return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  const plain = Object.is(number, -0) ? "-0" : String(number);
  return plain.includes(".") ? plain : `${plain}.0`;
}

function byCodePoint(a, b) {
  const [left, right] = [Array.from(a), Array.from(b)];
  const place = left.findIndex((character, index) => character !== right[index]);
  return place < 0 ? left.length - right.length : left[place].codePointAt(0) - (right[place]?.codePointAt(0) ?? -1);
}

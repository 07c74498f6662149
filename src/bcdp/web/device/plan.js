/** The plan: JSON in its canonical form, checked part by part. */

import { InputError, keys, list, refuse } from "./checks.js";
import { readCorrelation } from "./correlation.js";
import { level, readFeatures } from "./features.js";
import { checkMenus, checkQuestions } from "./questions.js";
import { readTable } from "./tables.js";

const LARGEST_EPSILON = 20;
const WHOLE_PARTS = ["bcdp", "menus", "questions", "tables"];
const PARTS = "bcdp mechanism collection correlation tables questions menus channels certificate".split(" ");

/** The plan that a canonical JSON text describes, its form checked but not its promises; its id is the SHA-256. */
export async function parsePlan(text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new InputError(`plan: not JSON (${error.message}); accepted: the text of a plan`);
  }
  keys("plan", document, PARTS);
  if (canonical(document, text) !== text) {
    throw new InputError("plan: not in canonical form; accepted: sorted keys, each once, no spaces, Python's numbers");
  }
  if (document.bcdp !== 1) throw refuse("bcdp", document.bcdp, "1");
  if (document.mechanism !== "survey" || list("channels", document.channels).length) {
    throw refuse("mechanism", document.mechanism, "survey, without channels: a browser answers questions only");
  }
  const { collection, certificate } = document;
  keys("collection", collection, ["epsilon", "features"], ["tasks", "order"]);
  if (!(level("collection.epsilon", collection.epsilon) > 0 && collection.epsilon <= LARGEST_EPSILON)) {
    throw refuse("collection.epsilon", collection.epsilon, `a number above 0 and at most ${LARGEST_EPSILON}`);
  }
  keys("certificate", certificate, ["epsilon", "features", "objective", "optimality_gap"]);
  for (const key of ["objective", "optimality_gap"]) {
    if (certificate[key] !== null && typeof certificate[key] !== "number") {
      throw refuse(`certificate.${key}`, certificate[key], "null or a number");
    }
  }
  const plan = {
    id: await sha256(text),
    epsilon: collection.epsilon,
    features: readFeatures(collection),
    correlation: readCorrelation(document.correlation),
    tables: list("tables", document.tables).map((table, number) => readTable(`tables.${number}`, table)),
    questions: list("questions", document.questions),
    menus: list("menus", document.menus, 1),
    certificate: { epsilon: level("certificate.epsilon", certificate.epsilon), features: new Map() },
  };
  checkRounded(plan);
  checkQuestions(plan);
  checkMenus(plan);
  keys("certificate.features", certificate.features, [...plan.features.keys()]);
  for (const name of plan.features.keys()) {
    const claim = certificate.features[name];
    keys(`certificate.features.${name}`, claim, ["asked", "certified", "c"]);
    for (const key of Object.keys(claim)) level(`certificate.features.${name}.${key}`, claim[key]);
    plan.certificate.features.set(name, claim);
  }
  return plan;
}

/** All numbers are seen through one rounding or none is: among factors, whatever is not marked counts as a sign. */
function checkRounded({ correlation: { rounded }, features }) {
  const numbers = [...features].filter(([, { type }]) => type === "numeric").map(([name]) => name);
  if (rounded.size && (rounded.size !== numbers.length || !numbers.every((name) => rounded.has(name)))) {
    throw refuse("correlation.rounded", [...rounded], "all numeric features, or no such key");
  }
}

async function sha256(text) {
  if (!globalThis.crypto?.subtle) throw refuse("page", "plain http", "https, or http from this machine");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hexadecimal(new Uint8Array(digest));
}

/** Bytes as text. */
export const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * The document as Python writes it, which tells 2 from 2.0: in some parts all numbers are whole, in the certificate none
 * is, and elsewhere each is what the text has in its place. Another spelling would be another id, and answered again.
 */
function canonical(document, text) {
  const words = text.match(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g);
  const tokens = words.filter((word) => !word.startsWith('"')).values();
  const write = (value, part) => {
    if (typeof value === "number") return spelled(value, part, tokens.next().value);
    if (Array.isArray(value)) return `[${value.map((entry) => write(entry, part)).join(",")}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const names = Object.keys(value).sort(byCodePoint);
    return `{${names.map((name) => `${JSON.stringify(name)}:${write(value[name], part ?? name)}`).join(",")}}`;
  };
  return write(document);
}

function spelled(number, part, token) {
  if (WHOLE_PARTS.includes(part)) return String(number);
  return part !== "certificate" && /^(0|-?[1-9][0-9]*)$/.test(token) ? token : float(number);
}

/** A number as Python writes it if it is no whole number by type: 1.0, 1e-05, 1e+16. */
function float(number) {
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

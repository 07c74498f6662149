/** The plan: JSON in its canonical form, checked part by part. */

import { InputError, keys, list, refuse } from "./checks.js";
import { readCorrelation } from "./correlation.js";
import { level, readFeatures } from "./features.js";
import { checkMenus, checkQuestions } from "./questions.js";
import { readTable } from "./tables.js";

const LARGEST_EPSILON = 20;
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
  if (canonicalNumbers(text) !== canonical(document)) {
    throw new InputError("plan: not in canonical form; accepted: sorted keys, each once, and no spaces");
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

async function sha256(text) {
  if (!globalThis.crypto?.subtle) throw refuse("page", "plain http", "https, or http from this machine");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hexadecimal(new Uint8Array(digest));
}

/** Bytes as text. */
export const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The text with its numbers as JavaScript writes them; Python writes 1.0 and 1e-05. */
function canonicalNumbers(text) {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : JSON.stringify(Number(token)),
  );
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value).sort(byCodePoint);
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function byCodePoint(a, b) {
  const [left, right] = [Array.from(a), Array.from(b)];
  const place = left.findIndex((character, index) => character !== right[index]);
  return place < 0 ? left.length - right.length : left[place].codePointAt(0) - (right[place]?.codePointAt(0) ?? -1);
}

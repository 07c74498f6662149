/** The plan: JSON in its canonical form, checked part by part. */

import { InputError, keys, list, refuse } from "./checks.js";
import { readCorrelation } from "./correlation.js";
import { level, readFeatures } from "./features.js";
import { checkMenus, checkQuestions } from "./questions.js";
import { canonical } from "./spelling.js";
import { readSurvey } from "./survey.js";
import { readTable } from "./tables.js";

const FORMAT = 1; // the version of the plan's format: any other is refused
const LARGEST_EPSILON = 20;
const COLLECTION_KEYS = [["epsilon", "features"], ["tasks", "order", "survey", "relay"]]; // prettier-ignore
const CERTIFICATE_KEYS = ["epsilon", "features", "objective", "optimality_gap"];
const CLAIM_KEYS = ["asked", "certified", "c"];
const PARTS = "bcdp mechanism collection correlation tables questions menus channels certificate".split(" ");

/** The plan that a canonical JSON text describes, its form checked but not its promises; its id is the SHA-256. */
export async function parsePlan(text) {
  const document = readText(text);
  if (document.bcdp !== FORMAT) throw refuse("bcdp", document.bcdp, `the version of the plan's format, ${FORMAT}`);
  if (document.mechanism !== "survey" || list("channels", document.channels).length) {
    throw refuse("mechanism", document.mechanism, "survey, without channels");
  }
  const { collection, certificate } = document;
  keys("collection", collection, ...COLLECTION_KEYS);
  if (!(level("collection.epsilon", collection.epsilon) > 0 && collection.epsilon <= LARGEST_EPSILON)) {
    throw refuse("collection.epsilon", collection.epsilon, `a number above 0 and at most ${LARGEST_EPSILON}`);
  }
  keys("certificate", certificate, CERTIFICATE_KEYS);
  for (const key of ["objective", "optimality_gap"]) {
    if (certificate[key] !== null && !Number.isFinite(certificate[key])) {
      throw refuse(`certificate.${key}`, certificate[key], "null or a number");
    }
  }
  const { features, open } = readFeatures(collection);
  // what no device needs to answer is checked all the same, by modules that are loaded for plans that state it
  if ("tasks" in collection) (await import("./tasks.js")).checkTasks(collection.tasks, features);
  const relay = collection.relay ?? null;
  const plan = {
    id: await sha256(text),
    epsilon: collection.epsilon,
    features,
    open,
    survey: readSurvey("collection.survey", collection.survey ?? null),
    relay: relay === null ? null : (await import("./relay.js")).readRelay("collection.relay", relay),
    correlation: readCorrelation(document.correlation, features),
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
    keys(`certificate.features.${name}`, claim, CLAIM_KEYS);
    for (const key of Object.keys(claim)) level(`certificate.features.${name}.${key}`, claim[key]);
    plan.certificate.features.set(name, claim);
  }
  return plan;
}

function readText(text) {
  let document;
  let written;
  try {
    document = JSON.parse(text);
    written = canonical(document, text);
  } catch (error) {
    throw new InputError(`plan: not JSON (${error.message}); accepted: the text of a plan`);
  }
  keys("plan", document, PARTS);
  if (written !== text) {
    throw new InputError("plan: not in canonical form; accepted: the text of a plan, unchanged");
  }
  return document;
}

async function sha256(text) {
  if (!globalThis.crypto?.subtle) throw refuse("page", "plain http", "https, or http from this machine");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hexadecimal(new Uint8Array(digest));
}

/** Bytes as text. */
export const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

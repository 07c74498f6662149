/** The plan: JSON in its canonical form, checked part by part. */

import { InputError, keys, level, list, refuse } from "../checks.js";
import { readCorrelation } from "./correlation.js";
import { readFeatures } from "./features.js";
import { checkMenus, checkQuestions, sendsAll } from "./questions.js";
import { canonical } from "./spelling.js";
import { readTable } from "./randomizers.js";

/** @typedef {{ asked: number, certified: number, c: number, items?: Record<string, Claim>, if_wrong?: number }} Claim */
/** @typedef {(bytes: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<Uint8Array>} Hash */
/**
 * @typedef {import("./questions.js").Parts & { id: string, sha256: Hash, epsilon: number, byTicket: boolean, separate: boolean,
 *   panel: import("./panel.js").Panel | null,
 *   open: import("./features.js").Named<import("./features.js").Listed>, survey: Record<string, any> | null,
 *   relay: { url: string, key: string } | null, counts: import("../counts.js").Counts | null, correlation: import("./correlation.js").Correlation & { source: string },
 *   certificate: { epsilon: number, features: ReadonlyMap<string, Claim> } }} Plan
 */

const FORMAT = 1; // the version of the plan's format: any other is refused
const LARGEST_EPSILON = 20;
/** @type {[string[], string[]]} */
const COLLECTION_KEYS = [["epsilon", "features"], ["tasks", "order", "survey", "relay", "counts", "trust", "menu_from", "panel"]]; // prettier-ignore
const CERTIFICATE_KEYS = ["epsilon", "features", "objective", "optimality_gap"];
const CLAIM_KEYS = ["asked", "certified", "c"];
const PARTS = "bcdp mechanism collection correlation tables questions menus channels certificate".split(" ");

/**
 * The plan that a canonical JSON text describes, its form checked but not its promises; its id is the SHA-256. Where there
 * is no Web Crypto, as in React Native, `sha256` computes the 32 bytes of the hash of bytes.
 * @type {(text: string, how?: { sha256?: Hash }) => Promise<Plan>}
 */
export async function parsePlan(text, { sha256 = webSha256 } = {}) {
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
  const { features, open } = readFeatures(collection);
  if ([...features.values()].some(({ dates }) => dates)) (await import("./dates.js")).readDates(features);
  // tasks are what the answers are for: covered by the plan's id, never read
  const panel = await panelOf(document, features);
  const batch = "trust" in collection || "counts" in collection;
  const plan = {
    id: await idOf(text, sha256),
    sha256,
    epsilon: collection.epsilon,
    features,
    open,
    blocks: await blocksOf(features),
    ...(await readStated(collection)),
    correlation: await readCorrelation(document.correlation, features),
    tables: await Promise.all(
      list("tables", document.tables).map((table, number) => readTable(`tables.${number}`, table)),
    ),
    questions: list("questions", document.questions),
    menus: list("menus", document.menus, 1),
    certificate: readCertificate(certificate, features, batch ? ["counts"] : []),
    panel,
    counts: batch ? (await import("../counts.js")).readCounts(collection, certificate.counts, features) : null,
  };
  await checkQuestions(plan);
  checkMenus(plan, collection.trust);
  await waved(plan);
  return { ...plan, separate: sendsAll(plan.menus) };
}

/** @type {(document: any, features: Plan["features"]) => Promise<Plan["panel"]>} */
async function panelOf({ collection, correlation }, features) {
  if (!("panel" in collection)) return null;
  const panel = (await import("./panel.js")).readPanel(collection, features, correlation);
  for (const feature of features.values()) feature.repeated = true;
  return panel;
}

/**
 * Refuses waves without a panel, and a panel without waves.
 * @type {(plan: Pick<Plan, "panel" | keyof import("./questions.js").Parts>) => Promise<void>}
 */
async function waved({ panel, ...parts }) {
  const mentioned = parts.menus.some((menu) => "wave" in menu) || parts.questions.some(({ kind }) => kind === "change");
  if (panel || mentioned) (await import("./panel.js")).checkWaves(panel, parts);
}

/** @type {(collection: any) => Promise<Pick<Plan, "survey" | "relay" | "byTicket">>} */
async function readStated(collection) {
  const { survey = null, relay = null, menu_from: from } = collection;
  if ((survey ?? relay) === null && from === undefined) return { survey, relay, byTicket: false };
  return (await import("./stated.js")).readStated(collection);
}

/** @type {(features: Plan["features"]) => Promise<Plan["blocks"]>} */
async function blocksOf(features) {
  const linked = [...features.values()].some(({ askedIf, type }) => askedIf !== null || type === "multiple");
  return linked ? (await import("./blocks.js")).readBlocks(features) : null;
}

/**
 * What the plan claims of itself: the level of the whole report, and one claim for each feature.
 * @type {(certificate: any, features: Plan["features"], more: string[]) => Plan["certificate"]}
 */
function readCertificate(certificate, features, more) {
  keys("certificate", certificate, [...CERTIFICATE_KEYS, ...more]);
  for (const key of ["objective", "optimality_gap"]) {
    if (certificate[key] !== null && !Number.isFinite(certificate[key])) {
      throw refuse(`certificate.${key}`, certificate[key], "null or a number");
    }
  }
  keys("certificate.features", certificate.features, [...features.keys()]);
  for (const [name, claim] of Object.entries(certificate.features)) {
    const { stated, ifWrong } = features.get(name);
    const claims = ifWrong ? [...CLAIM_KEYS, "if_wrong"] : CLAIM_KEYS;
    keys(`certificate.features.${name}`, claim, claims, stated.items ? ["items"] : []);
    for (const key of claims) level(`certificate.features.${name}.${key}`, claim[key]);
  }
  const claims = new Map([...features.keys()].map((name) => [name, certificate.features[name]]));
  return { epsilon: level("certificate.epsilon", certificate.epsilon), features: claims };
}

/** @type {(text: string) => any} */
function readText(text) {
  let document;
  let written;
  try {
    document = JSON.parse(text);
    written = canonical(document, text);
  } catch (/** @type {any} */ error) {
    throw new InputError(`plan: cannot be read (${error.message}); accepted: the text of a plan`);
  }
  keys("plan", document, PARTS);
  if (written !== text) {
    throw new InputError("plan: not in canonical form; accepted: the text of a plan, unchanged");
  }
  return document;
}

/**
 * The id of a text, its SHA-256; a function that gives something else would give every plan another one.
 * @type {(text: string, sha256: Hash) => Promise<string>}
 */
async function idOf(text, sha256) {
  const digest = await sha256(new TextEncoder().encode(text));
  if (!(digest instanceof Uint8Array) || digest.length !== 32) throw refuse("sha256", digest, "32 bytes");
  return hexadecimal(digest);
}

/** @type {Hash} */
async function webSha256(bytes) {
  if (!globalThis.crypto?.subtle) throw refuse("page", "plain http", "https, or http from this machine");
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/**
 * Bytes as text.
 * @type {(bytes: Uint8Array) => string}
 */
export const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The features, as a plan states them. */

import { MOST_VALUES, areCuts, entries, keys, list, refuse, text } from "./checks.js";
import { pythonFloat } from "./spelling.js";
import { readTranslations, readValueLabels } from "./survey.js";

const LONGEST_NAME = 200;
const TOLD_KEYS = ["label", "help", "labels", "helps"];
const COMMON_KEYS = [...TOLD_KEYS, "delta", "missing"];
const OWN_KEYS = {
  binary: [[], ["values", "value_labels"]],
  numeric: [["bounds"], ["ranges"]],
  categorical: [["values"], ["value_labels"]],
  open: [["values"], ["value_labels"]],
};
const MOST_CUTS = 31;
const OWN = "own"; // the rule that makes no answer a value of its own
const NO_ANSWER = "no answer"; // the name of that value
const UNANSWERED = 2; // its code among those of a number

/** The value itself, if it is a level in nats. */
export function level(path, value) {
  if (!(Number.isFinite(value) && value >= 0)) throw refuse(path, value, "a finite number of at least 0");
  return value;
}

/**
 * The features by their names, in the collection's order, defaults filled in: those that are protected, and those that
 * are `open`, whose values are sent as they are.
 */
export function readFeatures({ epsilon, features, order }) {
  const stated = new Map(entries("collection.features", features));
  if (!stated.size) throw refuse("collection.features", features, "at least one feature");
  const names = order === undefined ? [...stated.keys()] : list("collection.order", order);
  if (names.length !== stated.size || new Set(names).size !== names.length || !names.every((name) => stated.has(name))) {
    throw refuse("collection.order", order, "the name of every feature once");
  }
  const read = names.map((name) => [name, readFeature(name, stated.get(name), epsilon)]);
  const [open, closed] = [true, false].map((is) => new Map(read.filter(([, { type }]) => (type === "open") === is)));
  if (!closed.size || groupsOf(open) > MOST_VALUES) {
    throw refuse("collection.features", names, `not all open, and at most ${MOST_VALUES} groups of open values`);
  }
  return { features: closed, open };
}

/** How many combinations of open values there are. */
export const groupsOf = (open) => [...open.values()].reduce((groups, { values }) => groups * values.length, 1);

function readFeature(name, feature, epsilon) {
  const path = `features.${name}`;
  if (Array.from(text(path, name, 1)).length > LONGEST_NAME) throw refuse(path, name, `at most ${LONGEST_NAME} letters`);
  if (typeof feature?.type !== "string" || !Object.hasOwn(OWN_KEYS, feature.type)) {
    throw refuse(`${path}.type`, feature?.type, "binary, numeric, categorical or open");
  }
  const [required, optional] = OWN_KEYS[feature.type];
  keys(path, feature, ["type", ...required], [...(feature.type === "open" ? TOLD_KEYS : COMMON_KEYS), ...optional]);
  const labels = readTranslations(`${path}.labels`, feature.labels ?? null);
  const named = labels?.en ?? Object.values(labels ?? {})[0] ?? name;
  const { type, label = named, help = null, delta = epsilon, missing = null } = feature;
  text(`${path}.label`, label);
  if (help !== null) text(`${path}.help`, help);
  const helps = readTranslations(`${path}.helps`, feature.helps ?? null);
  const common = { type, label, help, labels, helps, missing, delta: level(`${path}.delta`, delta) };
  if (type === "numeric") {
    const [low, high] = list(`${path}.bounds`, feature.bounds, 2);
    const half = (high - low) / 2; // by which a device divides
    const ordered = [low, high].every(Number.isFinite) && half > 0 && Number.isFinite(half);
    if (!ordered || feature.bounds.length > 2) throw refuse(`${path}.bounds`, feature.bounds, "two numbers, low first");
    const own = missing === OWN;
    if (missing !== null && !own && !(typeof missing === "number" && missing >= low && missing <= high)) {
      throw refuse(`${path}.missing`, missing, "a number within the bounds, or own");
    }
    const cuts = cutsOf(`${path}.ranges`, [low, high], feature.ranges ?? null);
    return { ...common, bounds: [low, high], cuts, own, imputed: own ? UNANSWERED : missing };
  }
  const values = feature.values ?? null;
  const words = wordsOf(path, type, values);
  const counted = (values ?? [0, 1, false, true]).includes(missing);
  const own = missing === OWN && !counted && !words.has(NO_ANSWER);
  if (missing !== null && !counted && !own) {
    throw refuse(`${path}.missing`, missing, `one of the values, or own, which adds ${NO_ANSWER} to them`);
  }
  const inputs = (values?.length ?? 2) + Number(own); // the last is no answer, where that is a value of its own
  const imputed = missing === null ? null : own ? inputs - 1 : words.get(word(missing));
  const valueLabels = readValueLabels(`${path}.value_labels`, feature.value_labels ?? null, (values ?? [0, 1]).length);
  return { ...common, values: values ?? [0, 1], plain: values === null, words, own, inputs, imputed, valueLabels };
}

/** Where the ranges of a number begin, the first apart: as stated, or else four equal ones. */
function cutsOf(path, [low, high], stated) {
  if (stated === null) return [0.25, 0.5, 0.75].map((share) => low + (high - low) * share);
  if (!areCuts(list(path, stated, 1), [low, high]) || stated.length > MOST_CUTS) {
    throw refuse(path, stated, "rising cuts inside the bounds");
  }
  return stated;
}

/** A number as devices code it: within its bounds, on the scale from -1 to 1. */
export function numberCode({ bounds: [low, high] }, value) {
  const inside = Math.min(Math.max(value, low), high);
  return Math.min(Math.max(((inside - low) / (high - low)) * 2 - 1, -1), 1);
}

/** Between which of some cuts a coded number is, counted from 0: a number at a cut is in the step that begins there. */
export const stepOf = (feature, cuts, code) => cuts.filter((cut) => numberCode(feature, cut) <= code).length;

/** The number of each value, by its word; a binary feature without values knows 0/1 and false/true. */
function wordsOf(path, type, values) {
  if (values === null && type === "binary") return wordsFor([[0, 0], [1, 1], [false, 0], [true, 1]]); // prettier-ignore
  const fitting = list(`${path}.values`, values, 1).length <= MOST_VALUES && (type !== "binary" || values.length === 2);
  const written = (value) => (typeof value === "string" ? text(`${path}.values`, value, 1) : value);
  const different = (key) => new Set(values.map(key)).size === values.length;
  // in a file 1 and "1" are one value, and in Python 1 and true
  const equal = (value) => (typeof value === "string" ? value : Number(value));
  if (!values.map(written).every(isScalar) || !fitting || !different(word) || !different(equal)) {
    throw refuse(`${path}.values`, values, "different values: text, whole numbers, true/false");
  }
  return wordsFor(values.map((value, number) => [value, number]));
}

/** Whatever is written for a listed value; a listed word means itself before anything else. */
function wordsFor(listed) {
  const also = listed.flatMap(([value, number]) => otherWords(value).map((other) => [other, number]));
  return new Map([...also, ...listed.map(([value, number]) => [word(value), number])]);
}

function otherWords(value) {
  if (typeof value === "boolean") return value ? ["True", "TRUE"] : ["False", "FALSE"];
  return typeof value === "number" ? [`${value}.0`] : [];
}

const isScalar = (value) => ["string", "boolean"].includes(typeof value) || Number.isSafeInteger(value);

/** The word by which a value is recognised: 1 and "1" are one value, and so are true and "true"; undefined for none. */
export function word(value) {
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined;
  return Number.isInteger(value) ? String(value === 0 ? 0 : value) : pythonFloat(value);
}

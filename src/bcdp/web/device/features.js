/** The features, as a plan states them. */

import { MOST_VALUES, entries, keys, list, refuse } from "./checks.js";

/** The value itself, if it is a level in nats. */
export function level(path, value) {
  if (!(Number.isFinite(value) && value >= 0)) throw refuse(path, value, "a finite number of at least 0");
  return value;
}

/** Each feature by its name, in the collection's order, defaults filled in. */
export function readFeatures({ epsilon, features, order }) {
  const stated = new Map(entries("collection.features", features));
  if (!stated.size) throw refuse("collection.features", features, "at least one feature");
  const names = order === undefined ? [...stated.keys()] : list("collection.order", order);
  if (names.length !== stated.size || new Set(names).size !== names.length || !names.every((name) => stated.has(name))) {
    throw refuse("collection.order", order, "the name of every feature once");
  }
  return new Map(names.map((name) => [name, readFeature(name, stated.get(name), epsilon)]));
}

function readFeature(name, feature, epsilon) {
  const path = `features.${name}`;
  const own = { numeric: ["bounds"], categorical: ["values"], binary: [] }[feature?.type];
  if (!own) throw refuse(`${path}.type`, feature?.type, "binary, numeric or categorical");
  const optional = ["label", "help", "delta", "missing", ...(feature.type === "binary" ? ["values"] : [])];
  keys(path, feature, ["type", ...own], optional);
  const { type, label = name, help = null, delta = epsilon, missing = null } = feature;
  for (const text of [label, help ?? ""]) if (typeof text !== "string") throw refuse(path, text, "text");
  const common = { type, label, help, missing, delta: level(`${path}.delta`, delta) };
  if (type === "numeric") {
    const [low, high] = list(`${path}.bounds`, feature.bounds, 2);
    const ordered = [low, high].every(Number.isFinite) && high - low > 0 && Number.isFinite(high - low);
    if (!ordered || feature.bounds.length > 2) throw refuse(`${path}.bounds`, feature.bounds, "two numbers, low first");
    if (missing !== null && !(typeof missing === "number" && missing >= low && missing <= high)) {
      throw refuse(`${path}.missing`, missing, "a number within the bounds");
    }
    return { ...common, bounds: [low, high], imputed: missing ?? low + (high - low) / 2 };
  }
  const values = feature.values ?? null;
  const words = wordsOf(path, type, values);
  if (missing !== null && !(isScalar(missing) && words.has(word(missing)))) {
    throw refuse(`${path}.missing`, missing, "one of the values");
  }
  const imputed = words.get(word(missing ?? (values ?? [0])[0]));
  return { ...common, values: values ?? [0, 1], plain: values === null, words, imputed };
}

/** The number of each value, by its word; a binary feature without values knows 0/1 and false/true. */
function wordsOf(path, type, values) {
  if (values === null && type === "binary") {
    return new Map([["0", 0], ["1", 1], ["false", 0], ["true", 1], ["False", 0], ["True", 1]]); // prettier-ignore
  }
  const words = new Map(list(`${path}.values`, values, 1).map((value, number) => [word(value), number]));
  const fitting = type === "binary" ? values.length === 2 : values.length <= MOST_VALUES;
  if (!values.every(isScalar) || !fitting || words.size !== values.length) {
    throw refuse(`${path}.values`, values, "different values, each text, a whole number or true/false");
  }
  return words;
}

const isScalar = (value) => ["string", "boolean"].includes(typeof value) || Number.isSafeInteger(value);

/** The word by which a value is recognised: 1 and "1" are one value, and so are true and "true". */
export const word = (value) => (Number.isInteger(value) ? BigInt(value).toString() : String(value));

/** The features, as a plan states them. */

import {
  MOST_INTEGERS,
  MOST_LISTED,
  MOST_VALUES,
  areCuts,
  entries,
  keys,
  level,
  list,
  readTranslations,
  readValueLabels,
  refuse,
  text,
} from "../checks.js";
import { pythonFloat } from "./spelling.js";

/** @typedef {string | number | boolean} Value */
/** @typedef {readonly [number, number]} Bounds the low one first */
/** @typedef {Pick<Map<string | undefined, number>, "get" | "has">} Words the number of each value by its word */
/** @typedef {Record<string, string> | null} Translations */
/**
 * `askedIf` is the condition of a follow-up, as stated; `ifWrong` the level asked at so many times q and odds - 1;
 * `extras` counts the inputs after those of its values; `repeated` says that its value is a history over the waves of a
 * panel.
 * @typedef {{ label: string, help: string | null, labels: Translations, helps: Translations, askedIf: any,
 *   extras: number, ifWrong: { times: number, asked: number } | null, repeated?: boolean }} Told
 */
/**
 * A number; `own` says that no answer is a value of its own, and `imputed` is what it counts as. Of a date, `numberOf`
 * reads one, and `dateOf` writes one.
 * @typedef {Told & { type: "numeric", missing: Value | null, delta: number, bounds: Bounds, cuts: number[], own: boolean,
 *   imputed: number | null, values?: undefined, inputs?: undefined, stated?: any,
 *   dates?: import("./dates.js").Dates | null, numberOf?: (value: any) => any, dateOf?: (number: number) => string }} Numeric
 */
/**
 * What has values; `imputed` is the number of the one that no answer counts as.
 * `stated` is all that the plan states of it, `sets` what may be ticked of a list.
 * @typedef {Told & { type: "binary" | "categorical" | "ordinal" | "multiple" | "open", stated: any, sets?: number[][], most?: number, missing: Value | null, delta: number, values: Value[],
 *   plain: boolean, words: Words, own: boolean, inputs: number, imputed: number | null,
 *   valueLabels: Record<string, string[]> | null, bounds?: undefined, cuts?: undefined,
 *   dates?: undefined, numberOf?: undefined, dateOf?: undefined }} Listed
 */
/** @typedef {Numeric | Listed} Feature */
/**
 * A map that is asked for names that it has: whoever reads a plan checks them.
 * @template T
 * @typedef {Omit<ReadonlyMap<string, T>, "get"> & { get(name: string): T }} Named
 */

const LONGEST_NAME = 200;
const TOLD_KEYS = ["label", "help", "labels", "helps"];
const COMMON_KEYS = [...TOLD_KEYS, "delta", "missing", "asked_if", "if_wrong"];
const LARGEST_MULTIPLE = 1000;
/** @type {Record<string, string[][]>} */
const OWN_KEYS = {
  binary: [[], ["values", "value_labels"]],
  numeric: [["bounds"], ["ranges", "dates"]],
  categorical: [["values"], ["value_labels"]],
  ordinal: [["values"], ["value_labels", "scores"]],
  multiple: [["values"], ["value_labels", "at_most", "items"]],
  open: [["values"], ["value_labels"]],
};
const MOST_CUTS = 31;
/** @type {Record<string, [number, number]>} */
const SIZES = { binary: [2, 2], ordinal: [2, 100], open: [1, MOST_VALUES] }; // of values
const WHOLE = /^(0|-?[1-9][0-9]{0,15})(\.0)?$/;
const OWN = "own"; // the rule that makes no answer a value of its own
const NO_ANSWER = "no answer"; // the name of that value
const UNANSWERED = 2; // its code among those of a number

/**
 * The features by their names, in the collection's order, defaults filled in: those that are protected, and those that
 * are `open`, whose values are sent as they are.
 * @type {(collection: any) => { features: Named<Feature>, open: Named<Listed> }}
 */
export function readFeatures({ epsilon, features, order }) {
  const stated = new Map(entries("collection.features", features));
  if (!stated.size) throw refuse("collection.features", features, "at least one feature");
  const names = order === undefined ? [...stated.keys()] : list("collection.order", order);
  if (
    names.length !== stated.size ||
    new Set(names).size !== names.length ||
    !names.every((name) => stated.has(name))
  ) {
    throw refuse("collection.order", order, "the name of every feature once");
  }
  /** @type {[string, Feature][]} */
  const read = names.map((name) => [name, readFeature(name, stated.get(name), epsilon)]);
  /** @type {any[]} */
  const [open, closed] = [true, false].map((is) => new Map(read.filter(([, { type }]) => (type === "open") === is)));
  if (!closed.size || groupsOf(open) > MOST_VALUES) {
    throw refuse("collection.features", names, `not all open, and at most ${MOST_VALUES} groups of open values`);
  }
  return { features: closed, open };
}

/**
 * How many combinations of open values there are.
 * @type {(open: Named<Listed>) => number}
 */
export const groupsOf = (open) => [...open.values()].reduce((groups, { values }) => groups * values.length, 1);

/** @type {(name: string, feature: any, epsilon: number) => Feature} */
function readFeature(name, feature, epsilon) {
  const path = `features.${name}`;
  text(path, name, 1, LONGEST_NAME);
  if (typeof feature?.type !== "string" || !Object.hasOwn(OWN_KEYS, feature.type)) {
    throw refuse(`${path}.type`, feature?.type, "binary, numeric, categorical, ordinal, multiple or open");
  }
  const [required, optional] = OWN_KEYS[feature.type];
  keys(path, feature, ["type", ...required], [...(feature.type === "open" ? TOLD_KEYS : COMMON_KEYS), ...optional]);
  const { type, delta = epsilon, missing = null } = feature;
  const ifWrong = readIfWrong(`${path}.if_wrong`, feature, level(`${path}.delta`, delta));
  const common = { type, ...readTold(path, name, feature), missing, delta, ifWrong };
  /** @type {any} */
  const coded = (type === "numeric" ? readNumber : readValues)(path, feature, missing);
  const extras = Number(coded.own) + Number(common.askedIf !== null);
  if (coded.values) coded.inputs = coded.values.length + extras;
  return { ...common, ...coded, extras, stated: feature };
}

/**
 * What is asked where q and odds are larger than stated; a list with strict items has none.
 * @type {(path: string, feature: any, delta: number) => Told["ifWrong"]}
 */
function readIfWrong(path, { if_wrong: stated = null, items = null }, delta) {
  if (stated === null) return null;
  keys(path, stated, ["times", "delta"]);
  const { times, delta: factor } = stated;
  const inside = level(path, times) > 1 && level(path, factor) >= 1 && Math.max(times, factor) <= LARGEST_MULTIPLE;
  if (!inside || items !== null) {
    throw refuse(
      path,
      stated,
      `times above 1, delta from 1, both up to ${LARGEST_MULTIPLE}, and no delta of single items`,
    );
  }
  return { times, asked: factor * delta };
}

/**
 * What people are told of a feature: its label and help, perhaps in several languages.
 * @type {(path: string, name: string, feature: any) => Omit<Told, "extras" | "ifWrong">}
 */
function readTold(path, name, feature) {
  const labels = readTranslations(`${path}.labels`, feature.labels ?? null);
  const named = labels?.en ?? Object.values(labels ?? {})[0] ?? name;
  const { label = named, help = null } = feature;
  text(`${path}.label`, label);
  if (help !== null) text(`${path}.help`, help);
  const helps = readTranslations(`${path}.helps`, feature.helps ?? null);
  return { label, help, labels, helps, askedIf: feature.asked_if ?? null };
}

/**
 * What a number may be.
 * @type {(path: string, feature: any, missing: any) => Pick<Numeric, "bounds" | "cuts" | "own" | "imputed" | "dates">}
 */
function readNumber(path, feature, missing) {
  const [low, high] = list(`${path}.bounds`, feature.bounds, 2);
  const half = (high - low) / 2; // by which a device divides
  const ordered = [low, high].every(Number.isFinite) && half > 0 && Number.isFinite(half);
  if (!ordered || feature.bounds.length > 2) throw refuse(`${path}.bounds`, feature.bounds, "two numbers, low first");
  const own = missing === OWN;
  if (missing !== null && !own && !(typeof missing === "number" && missing >= low && missing <= high)) {
    throw refuse(`${path}.missing`, missing, "a number within the bounds, or own");
  }
  const cuts = cutsOf(`${path}.ranges`, [low, high], feature.ranges ?? null);
  return { bounds: [low, high], cuts, own, imputed: own ? UNANSWERED : missing, dates: feature.dates };
}

/**
 * The values of a feature that is not a number.
 * @type {(path: string, feature: any, missing: any) => Omit<Listed, keyof Told | "type" | "missing" | "delta" | "stated">}
 */
function readValues(path, feature, missing) {
  const { values, words } = isIntegers(feature) ? readIntegers(`${path}.values`, feature) : readListed(path, feature);
  const counted = (values ?? [0, 1, false, true]).includes(missing);
  const own = missing === OWN && !counted && !words.has(NO_ANSWER);
  if (missing !== null && !counted && !own) {
    throw refuse(`${path}.missing`, missing, `one of the values, or own, which adds ${NO_ANSWER} to them`);
  }
  const listed = values ?? [0, 1];
  const inputs = listed.length; // then come no answer, where it is a value of its own, and not applicable
  const imputed = /** @type {number | null} */ (missing === null ? null : own ? inputs : words.get(word(missing)));
  if ((feature.scores ?? null) !== null) checkScores(`${path}.scores`, feature.scores, listed.length);
  const valueLabels = readValueLabels(`${path}.value_labels`, feature.value_labels ?? null, listed.length);
  return { values: listed, plain: values === null, words, own, inputs, imputed, valueLabels };
}

/** @type {(path: string, feature: any) => { values: Value[] | null, words: Words }} */
function readListed(path, { type, values = null }) {
  return { values, words: wordsOf(path, type, values) };
}

/** @type {(feature: any) => boolean} */
const isIntegers = ({ type, values }) =>
  ["categorical", "ordinal"].includes(type) && typeof values === "object" && !Array.isArray(values ?? []);

/** @type {(path: string, feature: any) => { values: number[], words: Words }} */
function readIntegers(path, { type, values: stated, value_labels: labels = null }) {
  keys(path, stated, ["integers"]);
  const values = integersBetween(path, type, stated.integers);
  if (values.length > MOST_LISTED && labels !== null) {
    throw refuse(path, values.length, `at most ${MOST_LISTED} values where they have labels`);
  }
  return { values, words: integerWords(values) };
}

/**
 * All whole numbers from one to another.
 * @type {(path: string, type: string, ends: any) => number[]}
 */
function integersBetween(path, type, ends) {
  const most = SIZES[type]?.[1] ?? MOST_INTEGERS;
  const [first, last] = list(path, ends, 2);
  if (ends.length > 2 || ![first, last].every(Number.isSafeInteger) || last <= first || last - first >= most) {
    throw refuse(path, ends, `{integers: [first, last]} with 2 to ${most} whole numbers`);
  }
  return Array.from({ length: last - first + 1 }, (_, place) => first + place);
}

/**
 * The number of each of so many whole numbers by its word: found by subtraction.
 * @type {(values: readonly number[]) => Words}
 */
function integerWords(values) {
  /** @type {(word: string | undefined) => number | undefined} */
  const get = (word = "") => {
    const place = WHOLE.test(word) ? Number(word) - values[0] : -1;
    return place >= 0 && place < values.length ? place : undefined;
  };
  return { get, has: (word) => get(word) !== undefined };
}

/** @type {(path: string, scores: any, size: number) => void} */
function checkScores(path, scores, size) {
  const rising = list(path, scores).every((score, place) => Number.isFinite(score) && !(score <= scores[place - 1]));
  if (scores.length !== size || !rising || !Number.isFinite(scores[size - 1] - scores[0])) {
    throw refuse(path, scores, `${size} rising numbers, one for each value`);
  }
}

/**
 * Where the ranges of a number begin, the first apart: as stated, or else four equal ones.
 * @type {(path: string, bounds: Bounds, stated: any) => number[]}
 */
function cutsOf(path, [low, high], stated) {
  if (stated === null) return [0.25, 0.5, 0.75].map((share) => low + (high - low) * share);
  if (!areCuts(list(path, stated, 1), [low, high]) || stated.length > MOST_CUTS) {
    throw refuse(path, stated, "rising cuts inside the bounds");
  }
  return stated;
}

/**
 * A number as devices code it: within its bounds, on the scale from -1 to 1.
 * @type {(feature: { bounds: Bounds }, value: number) => number}
 */
export function numberCode({ bounds: [low, high] }, value) {
  const inside = Math.min(Math.max(value, low), high);
  return Math.min(Math.max(((inside - low) / (high - low)) * 2 - 1, -1), 1);
}

/**
 * Between which of some cuts a coded number is, counted from 0: a number at a cut is in the step that begins there.
 * No answer and not applicable, whose codes are 2 and 3, come after the last step.
 * @type {(feature: { bounds: Bounds }, cuts: readonly number[], code: number) => number}
 */
export const stepOf = (feature, cuts, code) =>
  cuts.filter((cut) => numberCode(feature, cut) <= code).length + (code > 1 ? code - 1 : 0);

/**
 * The number of each value, by its word; a binary feature without values knows 0/1 and false/true.
 * @type {(path: string, type: string, values: any) => Words}
 */
function wordsOf(path, type, values) {
  if (values === null && type === "binary") return wordsFor([[0, 0], [1, 1], [false, 0], [true, 1]]); // prettier-ignore
  const [fewest, most] = SIZES[type] ?? [1, MOST_LISTED];
  const fitting = list(`${path}.values`, values, fewest).length <= most;
  /** @type {(value: any) => any} */
  const written = (value) => (typeof value === "string" ? text(`${path}.values`, value, 1) : value);
  /** @type {(key: (value: any) => unknown) => boolean} */
  const different = (key) => new Set(values.map(key)).size === values.length;
  // in a file 1 and "1" are one value, and in Python 1 and true
  /** @type {(value: any) => unknown} */
  const equal = (value) => (typeof value === "string" ? value : Number(value));
  if (!values.map(written).every(isScalar) || !fitting || !different(word) || !different(equal)) {
    throw refuse(`${path}.values`, values, "different values: text, whole numbers, true/false");
  }
  return wordsFor(values.map((/** @type {Value} */ value, /** @type {number} */ number) => [value, number]));
}

/**
 * Whatever is written for a listed value; a listed word means itself before anything else.
 * @type {(listed: [Value, number][]) => Words}
 */
function wordsFor(listed) {
  /** @type {[string | undefined, number][]} */
  const also = listed.flatMap(([value, number]) => otherWords(value).map((other) => [other, number]));
  return new Map([...also, .../** @type {typeof also} */ (listed.map(([value, number]) => [word(value), number]))]);
}

/** @type {(value: Value) => string[]} */
function otherWords(value) {
  if (typeof value === "boolean") return value ? ["True", "TRUE"] : ["False", "FALSE"];
  return typeof value === "number" ? [`${value}.0`] : [];
}

/** @type {(value: unknown) => boolean} */
const isScalar = (value) => ["string", "boolean"].includes(typeof value) || Number.isSafeInteger(value);

/**
 * The word by which a value is recognised: 1 and "1" are one value, and so are true and "true"; undefined for none.
 * @type {(value: any) => string | undefined}
 */
export function word(value) {
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined;
  return Number.isInteger(value) ? String(value === 0 ? 0 : value) : pythonFloat(value);
}

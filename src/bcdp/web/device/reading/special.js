/** The form of questions about steps of numbers and about products; loaded with the plans that ask them. */

import { areCuts, list, refuse, whole } from "../checks.js";

/** @typedef {import("./features.js").Feature} Feature */
/** @typedef {import("./questions.js").Question} Question */
/** @typedef {import("./questions.js").Product} Product */

const MOST_STEPS = 256; // of a number that enters by steps

/**
 * Numbers that enter by steps have one cut less than levels, rising and inside their bounds; other features none.
 * @type {(path: string, question: Question, asked: Feature[]) => void}
 */
export function checkCuts(path, { cuts, levels }, asked) {
  /** @type {(own: any, place: number) => boolean} */
  const fits = (own, place) =>
    own === null ||
    (areCuts(own, asked[place]?.bounds) &&
      own.length === levels[place] - asked[place].extras - 1 &&
      own.length < MOST_STEPS);
  const stated = list(path, cuts);
  if (stated.length !== asked.length || !stated.every(fits) || stated.every((own) => own === null)) {
    throw refuse(
      path,
      cuts,
      "for each feature null, or for a number rising cuts inside the bounds, one less than levels",
    );
  }
}

/**
 * A product is of two features, or of a number with itself; of a feature with values one of them is meant.
 * @type {(path: string, question: Product, asked: Feature[]) => void}
 */
export function checkProduct(path, { levels, categories }, asked) {
  if (asked.some(({ type, extras, askedIf }) => askedIf !== null || (extras && type === "numeric"))) {
    throw refuse(path, levels, "numbers in which no answer is not a value of its own, and no follow-ups");
  }
  const squared = asked.length === 1 && asked[0].type === "numeric";
  if (!(squared || asked.length === 2) || levels.length !== 1) {
    throw refuse(path, levels, "one entry, for two features or a number");
  }
  if (list(`${path}.categories`, categories).length !== asked.length) {
    throw refuse(`${path}.categories`, categories, "one entry for each feature");
  }
  categories.forEach((category, index) => {
    const feature = asked[index];
    const { type, extras } = feature;
    if (feature.type !== "numeric" && (type === "categorical" || type === "ordinal" || extras)) {
      whole(`${path}.categories`, category, 0, feature.inputs - 1);
    } else if (category !== null) throw refuse(`${path}.categories`, category, "null for what is not categorical");
  });
}

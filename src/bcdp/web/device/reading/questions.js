/** The form of questions and menus. */

import { MOST_CELLS, TOTAL, areCuts, keys, list, namesAmong, refuse, whole } from "../checks.js";
import { checkCells } from "./randomizers.js";

/** @typedef {import("./features.js").Feature} Feature */
/** @typedef {{ features: string[], levels: number[], table: number }} Asked */
/** @typedef {Asked & { kind?: undefined, cuts?: (number[] | null)[] }} Values with the cuts of numbers that enter by steps */
/** @typedef {Asked & { kind: "product", categories: (number | null)[], cuts?: undefined }} Product */
/** @typedef {Asked & { kind: "block", cuts?: undefined }} Block about features that depend on each other */
/** @typedef {Values | Product | Block} Question */
/** @typedef {{ weight: number, questions: number[] }} Menu */
/**
 * @typedef {{ features: import("./features.js").Named<Feature>, tables: import("./randomizers.js").Table[],
 *   questions: Question[], menus: Menu[], blocks: import("./blocks.js").Blocks | null }} Parts
 */

const MOST_ANSWERS = 2 ** 24;
const KEYS = ["features", "levels", "table"];
const KEYS_OF = { values: KEYS, product: [...KEYS, "kind", "categories"], block: [...KEYS, "kind"] };
const MOST_STEPS = 256; // of a number that enters by steps

/**
 * Refuses questions that do not fit their features and tables.
 * @type {(plan: Parts) => void}
 */
export function checkQuestions({ questions, tables, features, blocks }) {
  questions.forEach((question, number) => {
    const path = `questions.${number}`;
    const product = question?.kind === "product";
    const block = question?.kind === "block" && blocks;
    keys(path, question, KEYS_OF[product ? "product" : block ? "block" : "values"], product || block ? [] : ["cuts"]);
    const names = namesAmong(`${path}.features`, question.features, [...features.keys()]);
    list(`${path}.levels`, question.levels).forEach((size) => whole(`${path}.levels`, size, 2, MOST_CELLS));
    const asked = names.map((name) => features.get(name));
    if (product) checkProduct(path, question, asked);
    else checkValues(path, question, asked);
    if ("cuts" in question) checkCuts(`${path}.cuts`, question, asked);
    const combinations = blocks?.inputs(path, question) ?? question.levels.reduce((total, size) => total * size, 1);
    const table = tables[whole(`${path}.table`, question.table, 0, tables.length - 1)];
    if (table.levels !== combinations) throw refuse(`${path}.table`, table.levels, `a table of ${combinations} levels`);
    if (question.levels.length > 1) checkCells(`tables.${question.table}`, table.levels, table.symbols);
  });
}

/** @type {(path: string, question: Question, asked: Feature[]) => void} */
function checkValues(path, { levels }, asked) {
  /** @type {(feature: Feature, index: number) => boolean} */
  const fits = ({ type, extras, inputs }, index) =>
    type === "numeric" ? levels[index] > 1 + extras : levels[index] === inputs;
  if (levels.length !== asked.length || !asked.every(fits)) {
    throw refuse(
      `${path}.levels`,
      levels,
      "one number for each feature: that of its values, if it has values, no answer counted",
    );
  }
}

/**
 * Numbers that enter by steps have one cut less than levels, rising and inside their bounds; other features none.
 * @type {(path: string, question: Question, asked: Feature[]) => void}
 */
function checkCuts(path, { cuts, levels }, asked) {
  /** @type {(own: any, place: number) => boolean} */
  const fits = (own, place) =>
    own === null ||
    (areCuts(own, asked[place]?.bounds) &&
      !asked[place].extras &&
      own.length === levels[place] - 1 &&
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

/** @type {(path: string, question: Product, asked: Feature[]) => void} */
function checkProduct(path, { levels, categories }, asked) {
  if (asked.some(({ extras }) => extras))
    throw refuse(path, levels, "features in which no answer is not a value of its own");
  const squared = asked.length === 1 && asked[0].type === "numeric";
  if (!(squared || asked.length === 2) || levels.length !== 1) {
    throw refuse(path, levels, "one entry, for two features or a number");
  }
  if (list(`${path}.categories`, categories).length !== asked.length) {
    throw refuse(`${path}.categories`, categories, "one entry for each feature");
  }
  categories.forEach((category, index) => {
    const { type, values } = asked[index];
    if (type === "categorical" || type === "ordinal") whole(`${path}.categories`, category, 0, values.length - 1);
    else if (category !== null) throw refuse(`${path}.categories`, category, "null for what is not categorical");
  });
}

/**
 * Refuses menus that cannot be drawn, answered or counted.
 * @type {(plan: Parts) => void}
 */
export function checkMenus({ menus, questions, tables }) {
  let weight = 0;
  let answers = 0;
  menus.forEach((menu, number) => {
    const path = `menus.${number}`;
    keys(path, menu, ["weight", "questions"]);
    weight += whole(`${path}.weight`, menu.weight, 1, TOTAL);
    list(`${path}.questions`, menu.questions, 1);
    const asked = menu.questions.map((index) => questions[whole(`${path}.questions`, index, 0, questions.length - 1)]);
    const names = asked.flatMap((question) => question.features);
    if (new Set(names).size !== names.length) throw refuse(path, names, "each feature at most once in a menu");
    answers += asked.reduce((total, question) => total * tables[question.table].symbols, 1);
  });
  if (weight !== TOTAL) throw refuse("menus", weight, `weights that sum to ${TOTAL}`);
  if (answers > MOST_ANSWERS) throw refuse("menus", answers, `at most ${MOST_ANSWERS} possible answers`);
}

/** The form of questions and menus. */

import { MOST_CELLS, TOTAL, checkCells, keys, list, namesAmong, refuse, whole } from "../checks.js";

/** @typedef {import("./features.js").Feature} Feature */
/** @typedef {{ features: string[], levels: number[], table: number }} Asked */
/** @typedef {Asked & { kind?: undefined, cuts?: (number[] | null)[] }} Values with the cuts of numbers that enter by steps */
/** @typedef {Asked & { kind: "product", categories: (number | null)[], cuts?: undefined }} Product */
/** @typedef {Asked & { kind: "block", cuts?: (number[] | null)[] }} Block about features that depend on each other, and others */
/** @typedef {Asked & { kind: "change", since: number, cuts?: undefined }} Change of a feature since an earlier wave of a panel */
/** @typedef {(Values | Product | Block | Change) & { since?: number }} Question */
/** @typedef {{ weight: number, questions: number[], wave?: number }} Menu in a panel, of a wave */
/**
 * @typedef {{ features: import("./features.js").Named<Feature>, tables: import("./randomizers.js").Table[],
 *   questions: Question[], menus: Menu[], blocks: import("./blocks.js").Blocks | null }} Parts
 */

const MOST_ANSWERS = 2 ** 24;
const MOST_MESSAGES = 32; // of one person
const KEYS = ["features", "levels", "table"];
const KEYS_OF = { values: KEYS, product: [...KEYS, "kind", "categories"], block: [...KEYS, "kind"] };

/**
 * Refuses questions that do not fit their features and tables.
 * @type {(plan: Parts) => Promise<void>}
 */
export async function checkQuestions(parts) {
  const { questions, tables, features, blocks } = parts;
  const changing = questions.some((question) => question?.kind === "change");
  const { checkChange } = /** @type {typeof import("./panel.js")} */ (changing ? await import("./panel.js") : {});
  const special = questions.some((question) => question?.kind === "product" || question?.cuts !== undefined);
  const { checkCuts, checkProduct } = /** @type {typeof import("./special.js")} */ (
    special ? await import("./special.js") : {}
  );
  questions.forEach((question, number) => {
    const path = `questions.${number}`;
    if (question?.kind === "change") return checkChange(path, question, parts);
    const product = question?.kind === "product";
    const block = question?.kind === "block" && blocks;
    keys(path, question, KEYS_OF[product ? "product" : block ? "block" : "values"], product ? [] : ["cuts"]);
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
 * Refuses menus that cannot be drawn, answered or counted.
 * @type {(plan: Parts, trust?: unknown) => void}
 */
export function checkMenus({ menus, questions, tables }, trust = "device") {
  let weight = 0;
  let answers = 0;
  menus.forEach((menu, number) => {
    const path = `menus.${number}`;
    keys(path, menu, ["weight", "questions"], ["wave"]);
    weight += whole(`${path}.weight`, menu.weight, 1, TOTAL);
    list(`${path}.questions`, menu.questions, 1);
    const asked = menu.questions.map((index) => questions[whole(`${path}.questions`, index, 0, questions.length - 1)]);
    answers += asked.reduce((total, question) => total * tables[question.table].symbols, 1);
  });
  linkedMenus(menus).forEach((menu, number) => {
    const names = menu.questions.flatMap((index) => questions[index].features);
    const path = `menus.${number}`;
    if (new Set(names).size !== names.length) throw refuse(path, names, "each feature at most once in a menu");
  });
  if (sendsAll(menus) ? trust !== "relay" || menus.length > MOST_MESSAGES : weight !== TOTAL) {
    throw refuse("menus", weight, `weights that sum to ${TOTAL}`);
  }
  if (answers > MOST_ANSWERS) throw refuse("menus", answers, `at most ${MOST_ANSWERS} possible answers`);
}

/**
 * Whether every menu is answered, each in a message of its own: several menus that are drawn with certainty.
 * @type {(menus: Menu[]) => boolean}
 */
export const sendsAll = (menus) => menus.length > 1 && menus.every(({ weight }) => weight === TOTAL);

/**
 * How many random words a question reads: one for each feature and one for the table; of a change, one for each value.
 * @type {(question: Question) => number}
 */
export const wordsOf = ({ kind, levels, features }) => (kind === "change" ? levels[1] : features.length + 1);

/**
 * What one person may answer together: one of the menus, or all of them as one.
 * @type {(menus: Menu[]) => Menu[]}
 */
export const linkedMenus = (menus) =>
  sendsAll(menus) ? [{ weight: TOTAL, questions: menus.flatMap(({ questions }) => questions) }] : menus;

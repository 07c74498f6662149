/**
 * The answer. Word 0 draws the menu; then, for each question of the menu, one word per feature (to round a number at
 * random; other features, and numbers that enter by steps, ignore theirs) and one word for the table. The number of a
 * product question is rounded with the first of its words. Where no answer is a value of its own, it is the last input, and
 * a number is rounded to the others.
 */

import { InputError, TOTAL, counted, keys, list, most, refuse, whole } from "./checks.js";
import { groupsOf, numberCode, stepOf, word } from "./reading/features.js";
import { hexadecimal } from "./reading/plan.js";
import { linkedMenus, wordsOf } from "./reading/questions.js";

/** @typedef {import("./reading/plan.js").Plan} Plan */
/** @typedef {import("./reading/features.js").Feature} Feature */
/** @typedef {import("./reading/features.js").Listed} Listed */
/** @typedef {import("./reading/features.js").Numeric} Numeric */
/** @typedef {import("./reading/questions.js").Question} Question */
/** @typedef {import("./reading/blocks.js").Blocks} Blocks */
/** @typedef {import("./reading/questions.js").Product} Product */
/** @typedef {import("./reading/features.js").Named<number>} Codes */
/** @typedef {Readonly<Record<string, unknown>>} Row the values of a record by feature */
/** @typedef {{ menu: number, answer: number, group?: number }} Answer */
/** @typedef {Answer & { id: string }} Report */
/** @typedef {Report | Report[]} Kept a report, or those of a plan that sends several messages */
/** @typedef {string | null | undefined} Text what a store has under a key */
/** @typedef {{ getItem(key: string): Text | Promise<Text>, setItem(key: string, value: string): unknown }} Store */
/** @typedef {{ getItem(key: string): Text }} Immediate a store that has its texts at once */

const MOST_WORDS = 2 ** 14; // at a time, from the browser

/**
 * Fresh 32-bit words from the operating system, as many as the longest menu reads.
 * @type {(plan: Plan) => Uint32Array<ArrayBuffer>}
 */
export function randomWords(plan) {
  const lengths = linkedMenus(plan.menus).map((menu) =>
    menu.questions.reduce((total, number) => total + wordsOf(plan.questions[number]), 1),
  );
  const words = new Uint32Array(most(lengths));
  for (let start = 0; start < words.length; start += MOST_WORDS) {
    crypto.getRandomValues(words.subarray(start, start + MOST_WORDS));
  }
  return words;
}

/**
 * The report `{ menu, answer }` of a record `{ feature: value }`: a function of the plan, the record and the words. With
 * open features it has one more number, `group`, which tells their values as they are.
 * @type {(plan: Plan, record: Row, words?: Uint32Array) => Answer}
 */
export function answer(plan, record, words = randomWords(plan)) {
  single(plan);
  return answers(plan, record, words)[0];
}

/** @type {(plan: Plan) => void} */
function single({ separate, menus }) {
  if (separate) throw refuse("menus", menus.length, "one: answers() and answersOnce() give several");
}

/**
 * The messages of a record: one report, or one for each menu if a plan sends all of them. No message is drawn then, and
 * words are read as by one menu with all questions. A question about change needs the `earlier` record, too.
 * @type {(plan: Plan, record: Row, words?: Uint32Array, earlier?: Row | null) => Answer[]}
 */
export function answers(plan, record, words = randomWords(plan), earlier = null) {
  const group = groupOf(plan, record);
  const codes = encode(plan, record);
  const numbers = plan.separate ? counted(plan.menus.length) : [drawn(plan, words[0])];
  let position = 1;
  return numbers.map((menu) => {
    let result = 0;
    for (const number of plan.menus[menu].questions) {
      const question = plan.questions[number];
      const table = plan.tables[question.table];
      const changed = question.kind === "change";
      if (changed && earlier === null)
        throw new InputError("earlier: got none; accepted: the record of the earlier wave");
      const [name] = question.features;
      const input = changed
        ? encode(plan, /** @type {Row} */ (earlier)).get(name) * question.levels[1] + codes.get(name)
        : inputOf(plan, question, codes, words.subarray(position));
      const word = position + (changed ? codes.get(name) : question.features.length);
      position += wordsOf(question);
      result = result * table.symbols + table.sample(input, words[word]);
    }
    return { menu, answer: result, ...group };
  });
}

/** @type {(plan: Plan, word: number) => number} */
function drawn({ menus }, word) {
  let menu = 0;
  for (let end = menus[0].weight; word >= end; end += menus[menu].weight) menu += 1;
  return menu;
}

/**
 * The open values as one number, the last feature changing fastest; nothing where no feature is open.
 * @type {(plan: Plan, record: Row) => { group?: number }}
 */
function groupOf({ open }, record) {
  /** @type {(group: number, entry: [string, Listed]) => number} */
  const place = (group, [name, feature]) => group * feature.values.length + code(name, feature, valueIn(record, name));
  return open.size ? { group: [...open].reduce(place, 0) } : {};
}

/**
 * The open values of a report: the place of each among the feature's values, by name.
 * @type {(plan: Plan, report: { group?: number }) => Map<string, number>}
 */
export function openOf(plan, report) {
  let rest = report.group ?? 0;
  /** @type {[string, number][]} */
  const places = [...plan.open].reverse().map(([name, { values }]) => {
    const place = rest % values.length;
    rest = Math.floor(rest / values.length);
    return [name, place];
  });
  return new Map(places.reverse());
}

/** @type {(plan: Plan, question: Question, codes: Codes, words: Uint32Array) => number} */
function inputOf(plan, question, codes, words) {
  if (question.kind === "product") return roundAtRandom(productOf(plan, question, codes), question.levels[0], words[0]);
  const digits = question.features.reduce((input, name, index) => {
    const size = question.levels[index];
    const feature = plan.features.get(name);
    const cuts = question.cuts?.[index];
    if (cuts) return input * size + stepOf(/** @type {Numeric} */ (feature), cuts, codes.get(name));
    if (feature.type !== "numeric") return input * size + codes.get(name);
    const rounded = size - feature.extras;
    if (codes.get(name) > 1) return input * size + rounded + codes.get(name) - 2; // no answer, or not applicable
    return input * size + roundAtRandom(codes.get(name), rounded, words[index]);
  }, 0);
  return question.kind === "block" ? /** @type {Blocks} */ (plan.blocks).input(question, digits) : digits;
}

/**
 * The number in [-1, 1] that a product question is about: values are worth -1 or 1, numbers what they are.
 * @type {(plan: Plan, question: Product, codes: Codes) => number}
 */
function productOf(plan, question, codes) {
  const [x, y] = question.features.map((name, index) => {
    const [code, category] = [codes.get(name), question.categories[index]];
    if (plan.features.get(name).type === "numeric") return code;
    return 2 * (category === null ? code : Number(code === category)) - 1;
  });
  return y === undefined ? 2 * (x * x) - 1 : x * y;
}

/**
 * Each feature's code by public rules only: a number in [-1, 1], or the number of a value.
 * @type {(plan: Plan, record: Row) => Codes}
 */
function encode(plan, record) {
  const codes = new Map();
  for (const [name, feature] of plan.blocks?.order ?? plan.features) {
    const value = valueIn(record, name);
    codes.set(name, plan.blocks?.code(name, codes, value) ?? code(name, feature, value));
  }
  return /** @type {Codes} */ (codes);
}

/** @type {(record: Row, name: string) => unknown} */
const valueIn = (record, name) => (Object.hasOwn(record, name) ? record[name] : null);

/**
 * The code of one value (docs/guide/policy.md has the table of what may be written for it).
 * @type {(name: string, feature: Feature, value: any) => number}
 */
export function code(name, feature, given) {
  const value = feature.numberOf ? feature.numberOf(given) : given;
  const missing = value === undefined || value === null || value === "" || Number.isNaN(value);
  if (missing && feature.missing === null) {
    throw new InputError(`${name}: got no value; accepted: a value, as the plan has no rule for missing ones`);
  }
  if (feature.type === "numeric") {
    if (!missing && typeof value !== "number") throw refuse(name, value, "a number");
    if (missing && feature.own) return /** @type {number} */ (feature.imputed);
    return numberCode(feature, missing ? feature.imputed : value);
  }
  if (missing) return /** @type {number} */ (feature.imputed);
  const found = feature.words.get(word(value)); // no word, no code
  if (found === undefined) throw refuse(name, value, feature.values.slice(0, 12).map(String).join(", "));
  return found;
}

/**
 * A number in [-1, 1] as one of its two neighbouring inputs, right on average.
 * @type {(value: number, inputs: number, word: number) => number}
 */
function roundAtRandom(value, inputs, word) {
  const place = ((value + 1) / 2) * (inputs - 1);
  const below = Math.min(Math.floor(place), inputs - 2);
  return below + (word < (place - below) * TOTAL ? 1 : 0);
}

/**
 * What draws a fresh report `{ id, menu, answer }` of a record; the random `id` lets a repeated sending be recognised. Of a
 * plan that sends several messages, a list of them, each with an id of its own. Where a ticket assigns the menu, it is the
 * id, and word 0 is its own.
 * In a panel the menu, and what was drawn of a change, are those of the device's `part`.
 * @type {(plan: Plan, ticket?: string | null, part?: import("./panel.js").Part | null) => Promise<(record: Row) => Kept>}
 */
export async function reportDrawer(plan, ticket = null, part = null) {
  const several = plan.separate;
  const ids = counted(several ? plan.menus.length : 1).map(() => (plan.byTicket ? ticket : randomId()));
  const words = randomWords(plan);
  if (plan.byTicket) words[0] = await (await import("./ticket.js")).menuWord(plan, ticket);
  if (part !== null) words[0] = part.word;
  else if (plan.panel)
    throw new InputError("plan: got a panel; accepted: panelReport(), which answers in the drawn wave");
  return (record) => {
    if (part?.symbols) return /** @type {Kept} */ ({ id: ids[0], ...changed(plan, record, part) });
    const reports = answers(plan, record, words).map((each, place) => ({ id: ids[place], ...each }));
    return /** @type {Kept} */ (several ? reports : reports[0]);
  };
}

/**
 * The report about a change: the symbol that was drawn for the value now.
 * @type {(plan: Plan, record: Row, part: import("./panel.js").Part) => Answer}
 */
function changed(plan, record, { word, symbols = [] }) {
  const menu = drawn(plan, word);
  const [name] = plan.questions[plan.menus[menu].questions[0]].features;
  return { menu, answer: symbols[encode(plan, record).get(name)], ...groupOf(plan, record) };
}

const randomId = () => hexadecimal(crypto.getRandomValues(new Uint8Array(16)));

/**
 * Promises the report that this store keeps for the plan, drawn and kept on the first call.
 *
 * A second answer would tell more (4.6), so there is never one: tabs take turns where the browser has locks, a report that
 * was sent is not drawn again, and none is given that the store does not hold.
 * `store` is the browser's local storage or anything with `getItem` and `setItem`, which may give promises.
 * @type {(plan: Plan, record: Row, store?: Store, ticket?: string | null) => Promise<Report>}
 */
export async function answerOnce(plan, record, store = browsersStore(), ticket = null) {
  single(plan);
  return (await answersOnce(plan, record, store, ticket))[0];
}

/**
 * The same for any plan: one report, or one for each message.
 * @type {(plan: Plan, record: Row, store?: Store, ticket?: string | null,
 *   part?: import("./panel.js").Part | null) => Promise<Report[]>}
 */
export async function answersOnce(plan, record, store = browsersStore(), ticket = null, part = null) {
  const draw = await reportDrawer(plan, ticket, part);
  const once = async () => (await keptReport(plan, store)) ?? keepReport(plan, () => draw(record), store);
  return [await inTurn(once)].flat();
}

/** @type {Promise<unknown>} */
let last = Promise.resolve();

/**
 * Runs an action after those before it: of all tabs where there are locks, of this page or app where there are none.
 * @template T
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export function inTurn(action) {
  if (globalThis.navigator?.locks) return navigator.locks.request("bcdp", action);
  const done = last.then(action);
  last = done.catch(() => {});
  return done;
}

/** @type {(plan: Plan, draw: () => Kept, store: Store) => Promise<Kept>} */
async function keepReport(plan, draw, store) {
  if (await store.getItem(`bcdp.sent.${plan.id}`)) {
    throw new InputError("store: got a report that was sent; accepted: none");
  }
  await store.setItem(`bcdp.report.${plan.id}`, JSON.stringify(draw()));
  return (await keptReport(plan, store)) ?? noStore(); // perhaps that of another tab
}

/** @type {() => Store} */
export const browsersStore = () => globalThis.localStorage ?? noStore();

/** @type {() => never} */
function noStore() {
  throw new InputError("store: got none; accepted: anything lasting with getItem and setItem");
}

/**
 * The report that a store keeps for the plan, or null; a promise of it where the store gives promises.
 * @template {Pick<Store, "getItem">} S
 * @param {Plan} plan
 * @param {S} [store]
 * @returns {S extends Immediate ? Kept | null : Promise<Kept | null>}
 */
export function keptReport(plan, store = /** @type {any} */ (browsersStore())) {
  const text = store.getItem(`bcdp.report.${plan.id}`);
  const report = text instanceof Promise ? text.then((each) => reportIn(plan, each)) : reportIn(plan, text);
  return /** @type {any} */ (report);
}

/** @type {(plan: Plan, text: Text) => Kept | null} */
function reportIn(plan, text) {
  if (text === null || text === undefined) return null;
  try {
    const report = JSON.parse(text);
    if (plan.separate) checkAll(plan, report);
    else checkReport(plan, report);
    return report;
  } catch (/** @type {any} */ error) {
    // answering anew would be a second answer
    throw new InputError(`store: the report that was kept cannot be read (${error.message}); accepted: a kept report`);
  }
}

/** @type {(plan: Plan, reports: any) => void} */
function checkAll(plan, reports) {
  if (list("reports", reports).some(({ menu }, place) => menu !== place) || reports.length !== plan.menus.length) {
    throw refuse("reports", reports.length, "one for each menu");
  }
  for (const report of reports) checkReport(plan, report);
}

/** @type {(plan: Plan, report: any) => void} */
function checkReport(plan, report) {
  keys("report", report, ["id", "menu", "answer", ...(plan.open.size ? ["group"] : [])]);
  if (plan.open.size) whole("group", report.group, 0, groupsOf(plan.open) - 1);
  symbolsOf(plan, report);
}

/**
 * The symbol that a report holds for each question of its menu.
 * @type {(plan: Plan, report: Answer) => [Question, number][]}
 */
export function symbolsOf(plan, report) {
  const menu = plan.menus[whole("menu", report.menu, 0, plan.menus.length - 1)];
  const sizes = menu.questions.map((number) => plan.tables[plan.questions[number].table].symbols);
  let rest = whole("answer", report.answer, 0, sizes.reduce((total, size) => total * size, 1) - 1);
  const symbols = sizes.reduceRight((found, size) => {
    found.unshift(rest % size);
    rest = Math.floor(rest / size);
    return found;
  }, /** @type {number[]} */ ([]));
  return menu.questions.map((number, index) => [plan.questions[number], symbols[index]]);
}

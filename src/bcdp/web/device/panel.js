/**
 * A person's part in a panel: the wave and the menu are drawn once and kept, and the answer is given when the wave comes.
 *
 * A clock that is set back or forward changes when there is an answer, and never leads to a second one: what was kept is
 * given again. In the earlier wave of a question about change the symbol for every later value is drawn and kept, each
 * with a word of its own. The earlier value itself is not kept.
 */

import { answersOnce, browsersStore, code, keptReport, randomWords } from "./answer.js";
import { InputError, counted } from "./checks.js";
import { firstDay, lastDay, waveOn } from "./reading/panel.js";

/** @typedef {import("./reading/plan.js").Plan} Plan */
/** @typedef {import("./reading/panel.js").Panel} Panel */
/** @typedef {import("./answer.js").Store} Store */
/** @typedef {import("./answer.js").Row} Row */
/** @typedef {import("./answer.js").Report} Report */
/** @typedef {{ wave: number, first: string, last: string }} Period days in which this person is asked */
/** @typedef {{ word: number, symbols?: number[] }} Part what is kept: the word that draws the menu, and first symbols */

/** @type {(plan: Plan) => string} */
const keyOf = ({ id }) => `bcdp.panel.${id}`;

/** @type {() => string} */
const today = () => new Date().toISOString().slice(0, 10);

/**
 * When this device is asked: in one wave, or in two for a question about change. The first call draws and keeps it.
 * @type {(plan: Plan, store?: Store, ticket?: string | null) => Promise<Period[]>}
 */
export async function panelPeriods(plan, store = browsersStore(), ticket = null) {
  const { menu, since } = menuOf(plan, await alone(() => joined(plan, store, ticket)));
  const panel = panelOf(plan);
  const waves = [...(since === undefined ? [] : [since]), Number(menu.wave)];
  return waves.map((wave) => ({ wave, first: firstDay(panel, wave), last: lastDay(panel, wave) }));
}

/**
 * The report of this device if its wave is now, drawn on the first call and the same ever after; null if nothing is to be
 * sent on this `day`, which in the earlier wave of a question about change prepares the answer.
 * @type {(plan: Plan, record: Row, store?: Store, how?: { ticket?: string | null, day?: string }) => Promise<Report | null>}
 */
export async function panelReport(plan, record, store = browsersStore(), { ticket = null, day = today() } = {}) {
  const kept = keptReport(plan, store);
  if (kept !== null) return /** @type {Report} */ (kept);
  const part = await alone(() => joined(plan, store, ticket));
  const { menu, since } = menuOf(plan, part);
  const wave = waveOn(panelOf(plan), day);
  if (wave === since && part.symbols === undefined) await alone(() => prepare(plan, record, store));
  if (wave !== menu.wave || (since !== undefined && part.symbols === undefined)) return null;
  const [report] = await answersOnce(plan, record, store, ticket, part);
  store.setItem(keyOf(plan), JSON.stringify({ word: part.word }));
  return report;
}

/** @type {(plan: Plan) => Panel} */
function panelOf({ panel }) {
  if (panel === null) throw new InputError("plan: got a plan without waves; accepted: that of a panel");
  return panel;
}

/** @type {(plan: Plan, store: Store, ticket: string | null) => Promise<Part>} */
async function joined(plan, store, ticket) {
  const known = store.getItem(keyOf(plan));
  const assigned = plan.byTicket ? await (await import("./ticket.js")).menuWord(plan, ticket) : null;
  if (known && assigned !== null && assigned !== JSON.parse(known).word) {
    throw new InputError("ticket: got another one; accepted: the ticket that this device takes part with");
  }
  if (known) return JSON.parse(known);
  const word = assigned ?? randomWords(plan)[0];
  store.setItem(keyOf(plan), JSON.stringify({ word }));
  return JSON.parse(/** @type {string} */ (store.getItem(keyOf(plan))));
}

/** @type {(plan: Plan, part: Part) => { menu: import("./reading/questions.js").Menu, since: number | undefined }} */
function menuOf({ menus, questions }, { word }) {
  let end = 0;
  const menu = menus.find(({ weight }) => word < (end += weight));
  if (!menu) throw new InputError("store: the wave that was kept cannot be read; accepted: a kept wave");
  return { menu, since: questions[menu.questions[0]].since };
}

/**
 * Draws the symbol for every value that the feature may have later, unless that was done before.
 * @type {(plan: Plan, record: Row, store: Store) => Promise<void>}
 */
async function prepare(plan, record, store) {
  const part = JSON.parse(/** @type {string} */ (store.getItem(keyOf(plan))));
  if (part.symbols !== undefined) return;
  const question = plan.questions[menuOf(plan, part).menu.questions[0]];
  const [name] = question.features;
  const before = code(name, plan.features.get(name), record[name] ?? null);
  const words = randomWords(plan);
  const [, size] = question.levels;
  const symbols = counted(size).map((now) => plan.tables[question.table].sample(before * size + now, words[now]));
  store.setItem(keyOf(plan), JSON.stringify({ ...part, symbols }));
}

/**
 * @template T
 * @param {() => T | Promise<T>} action
 * @returns {Promise<T>}
 */
async function alone(action) {
  const locks = globalThis.navigator?.locks;
  return locks ? locks.request("bcdp", action) : action();
}

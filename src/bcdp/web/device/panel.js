/**
 * A person's part in a panel: the wave and the menu are drawn once and kept, and the answer is given when the wave comes.
 *
 * A clock that is set back or forward changes when there is an answer, and never leads to a second one: what was kept is
 * given again. In the earlier wave of a question about change the symbol for every later value is drawn and kept, each
 * with a word of its own. The earlier value itself is not kept.
 */

import { answersOnce, browsersStore, code, inTurn, keptReport, randomWords } from "./answer.js";
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

/** The day, in UTC, as the collector counts it. */
export const today = () => new Date().toISOString().slice(0, 10);

/**
 * When this device is asked: in one wave, or in two for a question about change. The first call draws and keeps it.
 * @type {(plan: Plan, store?: Store, ticket?: string | null) => Promise<Period[]>}
 */
export async function panelPeriods(plan, store = browsersStore(), ticket = null) {
  return periodsOf(plan, await inTurn(() => joined(plan, store, ticket)));
}

/**
 * The report of this device if its wave is now, drawn on the first call and the same ever after; null if nothing is to be
 * sent on this `day`, which in the earlier wave of a question about change prepares the answer.
 * @type {(plan: Plan, record: Row, store?: Store, how?: { ticket?: string | null, day?: string }) => Promise<Report | null>}
 */
export async function panelReport(plan, record, store = browsersStore(), { ticket = null, day = today() } = {}) {
  const kept = await keptReport(plan, store);
  if (kept !== null) return /** @type {Report} */ (kept);
  const part = await inTurn(async () => {
    const own = await joined(plan, store, ticket);
    const next = dueOn(plan, own, day) === "earlier" ? prepared(plan, own, record) : own;
    if (next !== own) await store.setItem(keyOf(plan), JSON.stringify(next));
    return next;
  });
  if (dueOn(plan, part, day) !== "now") return null;
  const [report] = await answersOnce(plan, record, store, ticket, part);
  await store.setItem(keyOf(plan), JSON.stringify({ word: part.word })); // of an earlier value nothing is left
  return report;
}

/**
 * What is to be done on a day: nothing yet ("later"), prepare the answer about a change ("earlier"), wait for the later
 * wave ("between"), answer ("now"), or nothing any more ("over").
 * @type {(plan: Plan, part: Part, day: string) => "later" | "earlier" | "between" | "now" | "over"}
 */
export function dueOn(plan, part, day) {
  const [first, last = first] = periodsOf(plan, part);
  const wave = waveOn(panelOf(plan), day);
  const waits = first !== last && part.symbols === undefined;
  if (wave === first.wave && waits) return "earlier";
  if (wave < first.wave) return "later";
  if (wave > last.wave || waits) return "over";
  return wave === last.wave ? "now" : "between";
}

/**
 * The waves of a device's part, with their days.
 * @type {(plan: Plan, part: Part) => Period[]}
 */
export function periodsOf(plan, part) {
  const { menu, since } = menuOf(plan, part);
  const panel = panelOf(plan);
  const waves = [...(since === undefined ? [] : [since]), Number(menu.wave)];
  return waves.map((wave) => ({ wave, first: firstDay(panel, wave), last: lastDay(panel, wave) }));
}

/**
 * The number of the menu of a device's part.
 * @type {(plan: Plan, part: Part) => number}
 */
export const menuNumber = (plan, part) => plan.menus.indexOf(menuOf(plan, part).menu);

/**
 * A device's part with the symbol for every value that the feature may have later, each drawn by a word of its own.
 * @type {(plan: Plan, part: Part, record: Row) => Part}
 */
export function prepared(plan, part, record) {
  const question = plan.questions[menuOf(plan, part).menu.questions[0]];
  const [name] = question.features;
  const before = code(name, plan.features.get(name), record[name] ?? null);
  const words = randomWords(plan);
  const [, size] = question.levels;
  const symbols = counted(size).map((now) => plan.tables[question.table].sample(before * size + now, words[now]));
  return { ...part, symbols };
}

/**
 * A new part in a panel: the word that draws the menu, by chance or by the ticket; or the one that was `kept`.
 * @type {(plan: Plan, kept: string | null | undefined, ticket: string | null) => Promise<Part>}
 */
export async function partOf(plan, kept, ticket) {
  const known = kept ? JSON.parse(kept) : null;
  const assigned = plan.byTicket ? await (await import("./ticket.js")).menuWord(plan, ticket) : null;
  if (known && assigned !== null && assigned !== known.word) {
    throw new InputError("ticket: got another one; accepted: the ticket that this device takes part with");
  }
  return known ?? { word: assigned ?? randomWords(plan)[0] };
}

/** @type {(plan: Plan) => Panel} */
function panelOf({ panel }) {
  if (panel === null) throw new InputError("plan: got a plan without waves; accepted: that of a panel");
  return panel;
}

/** @type {(plan: Plan, store: Store, ticket: string | null) => Promise<Part>} */
async function joined(plan, store, ticket) {
  const part = await partOf(plan, await store.getItem(keyOf(plan)), ticket);
  await store.setItem(keyOf(plan), JSON.stringify(part));
  return JSON.parse(/** @type {string} */ (await store.getItem(keyOf(plan)))); // perhaps that of another tab
}

/** @type {(plan: Plan, part: Part) => { menu: import("./reading/questions.js").Menu, since: number | undefined }} */
function menuOf({ menus, questions }, { word }) {
  let end = 0;
  const menu = menus.find(({ weight }) => word < (end += weight));
  if (!menu) throw new InputError("store: the wave that was kept cannot be read; accepted: a kept wave");
  return { menu, since: questions[menu.questions[0]].since };
}

/** Panels: when the waves are, and in which of them each menu is answered (theory.md, section 4.23). */

import { MOST_CELLS, checkCells, keys, list, namesAmong, refuse, text, whole } from "../checks.js";

/** @typedef {import("./questions.js").Menu} Menu */
/** @typedef {import("./questions.js").Change} Change */
/** @typedef {import("./questions.js").Parts} Parts */
/** @typedef {"day" | "week" | "month" | "year"} Every */
/** @typedef {{ waves: number, every: Every, start: string }} Panel */

const EVERY = ["day", "week", "month", "year"];
const [FEWEST_WAVES, MOST_WAVES] = [2, 400];
const LATEST_DAY = 28; // of a month on which waves of months or years may begin: every month has it
const LAST_YEAR = 9000;
const MILLISECONDS = 86_400_000; // of a day
/** @type {Record<string, number>} */
const DAYS = { day: 1, week: 7 };
const CHANGE_KEYS = ["features", "levels", "table", "kind", "since"];

/** @type {(start: string) => Date} */
const dayOf = (start) => new Date(`${start}T00:00:00Z`);

/**
 * The panel that a plan states, if the rest of its collection may be asked over waves.
 * @type {(collection: any, features: Parts["features"], correlation: any) => Panel}
 */
export function readPanel({ panel, trust }, features, correlation) {
  keys("collection.panel", panel, ["waves", "every", "start"]);
  whole("collection.panel.waves", panel.waves, FEWEST_WAVES, MOST_WAVES);
  if (!EVERY.includes(panel.every)) throw refuse("collection.panel.every", panel.every, EVERY.join(", "));
  const { every, start } = panel;
  const [year, , day] = text("collection.panel.start", start).split("-").map(Number);
  const valid = /^\d{4}-\d\d-\d\d$/.test(start) && year > 0 && year <= LAST_YEAR && isDay(start);
  if (!valid || (day > LATEST_DAY && !(every in DAYS))) {
    throw refuse("collection.panel.start", start, `a date; of months and years, up to day ${LATEST_DAY}`);
  }
  const linked = [...features.values()].some(({ askedIf, type }) => askedIf !== null || type === "multiple");
  if (trust !== undefined || linked || correlation?.kind !== "per feature") {
    throw refuse("collection.panel", panel, "none with trust, follow-ups, lists to tick or measured correlation");
  }
  return panel;
}

/** @type {(start: string) => boolean} */
function isDay(start) {
  const day = dayOf(start);
  return !Number.isNaN(Number(day)) && day.toISOString().slice(0, 10) === start;
}

/**
 * Menus of a panel have waves, and a question about change is asked alone, in a wave after the one since which it asks.
 * @type {(panel: Panel | null, parts: Parts) => void}
 */
export function checkWaves(panel, { menus, questions }) {
  menus.forEach((menu, number) => {
    const path = `menus.${number}`;
    if (panel === null) throw refuse(path, menu.wave, "no waves without a panel");
    whole(`${path}.wave`, menu.wave, 1, panel.waves);
    const since = menu.questions.map((asked) => questions[asked]).find((asked) => asked.kind === "change")?.since;
    if (since !== undefined && (menu.questions.length > 1 || since >= Number(menu.wave))) {
      throw refuse(`${path}.questions`, menu.questions, "a question about change alone, since an earlier wave");
    }
  });
}

/**
 * A question about the value of one feature in an earlier wave, and its value now.
 * @type {(path: string, question: Change, parts: Parts) => void}
 */
export function checkChange(path, question, { features, tables }) {
  keys(path, question, CHANGE_KEYS);
  const [name, ...others] = namesAmong(`${path}.features`, question.features, [...features.keys()]);
  whole(`${path}.since`, question.since, 1, MOST_WAVES);
  const { inputs } = features.get(name);
  const sizes = list(`${path}.levels`, question.levels).map((size) => whole(`${path}.levels`, size, 2, MOST_CELLS));
  if (others.length || sizes.length !== 2 || sizes.some((size) => size !== inputs)) {
    throw refuse(`${path}.levels`, sizes, "twice the number of values of one feature that is no number");
  }
  const table = tables[whole(`${path}.table`, question.table, 0, tables.length - 1)];
  if (table.levels !== sizes[0] ** 2) throw refuse(`${path}.table`, table.levels, `a table of ${sizes[0] ** 2} levels`);
  checkCells(`tables.${question.table}`, table.levels, table.symbols);
}

/**
 * The first day of a wave, numbered from 1; of the one after the last, the day after the panel.
 * @type {(panel: Panel, wave: number) => string}
 */
export function firstDay({ every, start }, wave) {
  const day = dayOf(start);
  if (every in DAYS) day.setUTCDate(day.getUTCDate() + DAYS[every] * (wave - 1));
  else day.setUTCMonth(day.getUTCMonth() + (wave - 1) * (every === "month" ? 1 : 12));
  return day.toISOString().slice(0, 10);
}

/**
 * The last day of a wave.
 * @type {(panel: Panel, wave: number) => string}
 */
export function lastDay(panel, wave) {
  return new Date(Number(dayOf(firstDay(panel, wave + 1))) - MILLISECONDS).toISOString().slice(0, 10);
}

/**
 * The wave of a day: 0 before the panel, one more than there are after it.
 * @type {(panel: Panel, day: string) => number}
 */
export function waveOn({ waves, every, start }, day) {
  if (day < start) return 0;
  const [from, to] = [dayOf(start), dayOf(day)];
  const days = (Number(to) - Number(from)) / MILLISECONDS;
  if (every in DAYS) return Math.min(Math.floor(days / DAYS[every]), waves) + 1;
  const months =
    12 * (to.getUTCFullYear() - from.getUTCFullYear()) +
    (to.getUTCMonth() - from.getUTCMonth()) -
    Number(to.getUTCDate() < from.getUTCDate());
  return Math.min(every === "month" ? months : Math.floor(months / 12), waves) + 1;
}

/**
 * Dates as whole numbers: days, calendar months or calendar years since a stated day (the proleptic Gregorian calendar).
 * `bcdp/dates.py` computes the same.
 */

import { keys, refuse } from "../checks.js";

/** @typedef {import("./features.js").Feature} Feature */
/** @typedef {"days" | "months" | "years"} Unit */
/** @typedef {{ since: string, unit: Unit }} Dates */

const DAY = 86_400_000; // milliseconds
const DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/;
const PARTS = { days: 3, months: 2, years: 1 }; // of year, month and day: what a unit needs
const LENGTHS = { days: 10, months: 7, years: 4 }; // of what is written
const SHORTEST = { days: 1, months: 28, years: 365 }; // in days
const FORMS = { days: "1974-05-31", months: "1974-05 or 1974-05-31", years: "1974 or 1974-05-31" };
const MOST_DAYS = 3_652_058; // of the years 1 to 9999, but one

/**
 * The day that a text states, the first of those meant; null if it states none, or not as exactly as the unit.
 * @type {(text: string, unit: Unit) => Date | null}
 */
function readDate(text, unit) {
  const parts = DATE.exec(text)?.slice(1).filter(Boolean).map(Number) ?? [];
  const [year, month = 1, day = 1] = parts;
  const read = new Date(0);
  read.setUTCFullYear(year, month - 1, day);
  const exists = year > 0 && read.getUTCMonth() === month - 1 && read.getUTCDate() === day;
  return exists && parts.length >= PARTS[unit] ? read : null;
}

/** @type {(since: string) => Date} */
const startOf = (since) => /** @type {Date} */ (readDate(since, "days"));

/**
 * The number of a day.
 * @type {(dates: Dates, day: Date) => number}
 */
function numberOf({ since, unit }, day) {
  const start = startOf(since);
  if (unit === "days") return (Number(day) - Number(start)) / DAY;
  const years = day.getUTCFullYear() - start.getUTCFullYear();
  return unit === "years" ? years : 12 * years + day.getUTCMonth() - start.getUTCMonth();
}

/**
 * The date nearest to a number, as exactly as the unit; ties are the later one.
 * @type {(dates: Dates, number: number) => string}
 */
export function dateOf({ since, unit }, number) {
  const day = startOf(since);
  const nearest = Math.floor(number + 0.5);
  if (unit === "days") day.setUTCDate(day.getUTCDate() + nearest);
  else day.setUTCMonth(day.getUTCMonth() + nearest * (unit === "months" ? 1 : 12));
  return day.toISOString().slice(0, LENGTHS[unit]);
}

/**
 * The number of the date that a value of a record states; no value stays none.
 * @type {(name: string, dates: Dates, value: any) => any}
 */
export function dateNumber(name, dates, value) {
  if (value === undefined || value === null || value === "" || Number.isNaN(value)) return value;
  const day = ["string", "number"].includes(typeof value) ? readDate(String(value), dates.unit) : null;
  if (day === null) throw refuse(name, value, `a date such as ${FORMS[dates.unit]}`);
  return numberOf(dates, day);
}

/**
 * Checks the features that are dates, and gives them `numberOf`, which reads a value of a record, and `dateOf`, which
 * writes a number. A copy of a feature for another thread has neither, as functions cannot be copied.
 * @type {(features: ReadonlyMap<string, Feature>) => void}
 */
export function readDates(features) {
  for (const [name, { dates, bounds }] of features) {
    if (!dates || !bounds) continue;
    check(`features.${name}.dates`, dates, bounds);
    Object.defineProperties(features.get(name), {
      numberOf: { value: (/** @type {any} */ value) => dateNumber(name, dates, value) },
      dateOf: { value: (/** @type {number} */ number) => dateOf(dates, number) },
    });
  }
}

/** @type {(path: string, dates: any, bounds: readonly [number, number]) => void} */
function check(path, dates, [low, high]) {
  keys(path, dates, ["since", "unit"]);
  const { since, unit } = dates;
  const texts = typeof unit === "string" && typeof since === "string";
  const known = texts && Object.hasOwn(PARTS, unit) && readDate(since, "days") !== null;
  const whole = low === 0 && Number.isInteger(high);
  if (!known || !whole || !within(dates, high)) {
    throw refuse(path, dates, "days, months or years from the first one on, bounds of 0 and a whole number until 9999");
  }
}

/** @type {(dates: Dates, high: number) => boolean} */
function within(dates, high) {
  const begins = `${dateOf(dates, 0)}-01-01`.slice(0, LENGTHS.days) === dates.since;
  return begins && high * SHORTEST[dates.unit] <= MOST_DAYS && /^\d/.test(dateOf(dates, high)); // a later year has a sign
}

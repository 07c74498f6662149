/** The person's own limits: the device answers and sends only within them. */

import { chanceOf, logUp, oddsOf } from "../device/exact.js";
import { Failure } from "./device.js";
import { ledger, memory } from "./memory.js";
import { readings } from "./numbers.js";

/** @typedef {import("../words/choose.js").Spoken} Spoken */
/**
 * What the device says of a plan, its levels in nats.
 * @typedef {{ id: string, epsilon: number, usual: number, single: number,
 *   release?: import("../device/ledger.js").Release }} Sheet
 */

const MOST_CALM = 90; // percent: where a guess at 50% could become more, nothing on the page looks reassuring
/** @type {(id: string) => HTMLElement & { value: string, open: boolean }} */
const $ = (id) => /** @type {any} */ (document.getElementById(id));

/**
 * How probable, in percent, a guess at 50% about all answers together can become.
 * @type {(sheet: { epsilon: number }) => number}
 */
export const becomes = ({ epsilon }) => chanceOf(epsilon);

/**
 * The kind of a note that reassures: plain where too much could be given away.
 * @type {(sheet: Sheet) => string}
 */
export function kindFor(sheet) {
  const text = $("limit-calm").value.trim();
  return becomes(sheet) <= (text ? Number(text) : MOST_CALM) ? "good" : "plain";
}

/**
 * Shows the limits as they were kept; `changed` is called whenever one changes.
 * @type {(sheet: Sheet, words: Spoken, changed: () => void) => void}
 */
export function showLimits(sheet, words, changed) {
  $("hint-epsilon").textContent = words.usualAll(factorOf(sheet.usual, words), words.number(sheet.usual));
  $("hint-delta").textContent = words.usualOne;
  showTotal(sheet, words);
  $("hint-calm").textContent = words.usualCalm(words.number(MOST_CALM));
  for (const input of $("limits").querySelectorAll("input")) {
    input.value = memory.get(input.id) ?? "";
    input.oninput = () => {
      changed();
      memory.set(input.id, input.value);
    };
  }
  $("limits").hidden = false;
}

/** @type {(level: number, words: Spoken) => string} */
const factorOf = (level, words) => words.factor(Math.min(oddsOf(level), 1e12));

/**
 * Says what all surveys of this site tell together, this one by the menu that was drawn, if it was.
 * @type {(sheet: Sheet, words: Spoken) => void}
 */
export function showTotal(sheet, words) {
  $("hint-total").textContent = words.usualTotal(factorOf(ledger.with(sheet), words));
}

/**
 * Whether a survey's claims, which were checked, are within the limits; where they are not, says so next to them.
 * @type {(sheet: Sheet, words: Spoken & Record<string, any>) => boolean}
 */
export function withinLimits(sheet, words) {
  const error = $("limit-error");
  try {
    const kept =
      sheet.epsilon <= limitOf("limit-epsilon", sheet.usual, words) &&
      sheet.single <= limitOf("limit-delta", Infinity, words) &&
      ledger.with(sheet) <= limitOf("limit-total", Infinity, words);
    if (!kept) throw new Failure("beyond");
    error.hidden = true;
    return true;
  } catch (/** @type {any} */ failure) {
    error.textContent = failure.detail?.length ? words[failure.key](...failure.detail) : words[failure.key];
    error.hidden = false;
    $("limits").open = true;
    return false;
  }
}

/**
 * A limit in nats: the level of the factor that was entered, by the rule by which factors are shown.
 * @type {(id: string, otherwise: number, words: Spoken) => number}
 */
function limitOf(id, otherwise, words) {
  const text = $(id).value.trim();
  if (!text) return otherwise;
  const [factor, ...others] = readings(text, words.code, (number) => number >= 1);
  const digits = factor >= 1 && factor < 1e15 && !others.length ? decimal(factor) : null;
  if (!digits) throw new Failure("notAFactor", text);
  return logUp(digits);
}

/**
 * A number of a person as an exact ratio of its decimal digits.
 * @type {(number: number) => import("../device/exact.js").Ratio | null}
 */
function decimal(number) {
  const [whole, fraction = ""] = String(number).split(".");
  return /^[0-9]+$/.test(whole + fraction)
    ? { top: BigInt(whole + fraction), bottom: 10n ** BigInt(fraction.length) }
    : null;
}

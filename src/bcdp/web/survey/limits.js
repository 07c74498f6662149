/** The person's own limits: the device answers and sends only within them. */

import { chanceOf, logUp, oddsOf } from "../device/exact.js";
import { Failure } from "./device.js";
import { ledger, memory } from "./memory.js";
import { readings } from "./numbers.js";

const MOST_CALM = 90; // percent: where a guess at 50% could become more, nothing on the page looks reassuring
const $ = (id) => document.getElementById(id);

/** How probable, in percent, a guess at 50% about all answers together can become. */
export const becomes = ({ epsilon }) => chanceOf(epsilon);

/** The kind of a note that reassures: plain where too much could be given away. */
export function kindFor(sheet) {
  const text = $("limit-calm").value.trim();
  return becomes(sheet) <= (text ? Number(text) : MOST_CALM) ? "good" : "plain";
}

/** Shows the limits as they were kept; `changed` is called whenever one changes. */
export function showLimits(sheet, words, changed) {
  const factor = (level) => words.factor(Math.min(oddsOf(level), 1e12));
  $("hint-epsilon").textContent = words.usualAll(factor(sheet.usual), words.number(sheet.usual));
  $("hint-delta").textContent = words.usualOne;
  $("hint-total").textContent = words.usualTotal(factor(ledger.with(sheet)));
  $("hint-calm").textContent = words.usualCalm(words.number(MOST_CALM));
  for (const input of $("limits").querySelectorAll("input")) {
    input.value = memory.get(input.id) ?? "";
    input.oninput = () => {
      memory.set(input.id, input.value);
      changed();
    };
  }
  $("limits").hidden = false;
}

/** Whether a survey's claims, which were checked, are within the limits; where they are not, says so next to them. */
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
  } catch (failure) {
    error.textContent = failure.detail?.length ? words[failure.key](...failure.detail) : words[failure.key];
    error.hidden = false;
    $("limits").open = true;
    return false;
  }
}

/** A limit in nats: the level of the factor that was entered, by the rule by which factors are shown. */
function limitOf(id, otherwise, words) {
  const text = $(id).value.trim();
  if (!text) return otherwise;
  const [factor, ...others] = readings(text, words.code, (number) => number >= 1);
  const digits = factor >= 1 && factor < 1e15 && !others.length ? decimal(factor) : null;
  if (!digits) throw new Failure("notAFactor", text);
  return logUp(digits);
}

/** A number of a person as an exact ratio of its decimal digits. */
function decimal(number) {
  const [whole, fraction = ""] = String(number).split(".");
  return /^[0-9]+$/.test(whole + fraction)
    ? { top: BigInt(whole + fraction), bottom: 10n ** BigInt(fraction.length) }
    : null;
}

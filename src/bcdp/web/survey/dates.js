/** The fields of dates, which the survey page loads if a plan has any. */

import { readDates } from "../device/reading/dates.js";
import { isolated } from "../device/wording/tell.js";
import { element } from "../page.js";

/** @typedef {import("./fields.js").Feature} Feature */
/** @typedef {import("./fields.js").Control} Control */
/** @typedef {import("../device/reading/features.js").Numeric & Required<Pick<import("../device/reading/features.js").Numeric, "numberOf" | "dateOf">>} Dated */

const TYPES = { days: "date", months: "month", years: "text" }; // of the browser's own fields
/** @type {Record<string, Intl.DateTimeFormatOptions>} */
const SHOWN = {
  days: { year: "numeric", month: "long", day: "numeric" },
  months: { year: "numeric", month: "long" },
  years: { year: "numeric" },
};

/**
 * Gives every feature that is a date its field, and what reads and writes dates.
 * @type {(features: ReadonlyMap<string, Feature & { control?: unknown }>) => void}
 */
export function offerDates(features) {
  readDates(features);
  for (const feature of features.values()) if (feature.dates) feature.control = dateField;
}

/**
 * The browser's own field for a day or a month, and one for a year. A browser without the field for months has one for
 * text, and reads what is written as 1974-05.
 * @type {(parts: import("./fields.js").Parts<Dated>) => Control}
 */
function dateField({ feature, id, hint, remark, described, words, draft }) {
  const { unit } = /** @type {import("../device/reading/dates.js").Dates} */ (feature.dates);
  const [low, high] = feature.bounds;
  /** @type {(number: number) => string} */
  const shown = (number) =>
    new Date(feature.dateOf(number)).toLocaleDateString(words.locale, { ...SHOWN[unit], timeZone: "UTC" });
  const accepted = words.acceptedDate(shown(low), shown(high));
  /** @type {import("../page.js").Attributes} */
  const attributes = { type: TYPES[unit], autocomplete: "off", min: feature.dateOf(low), max: feature.dateOf(high) };
  const input = element("input", { id, ...attributes, ...described });
  input.required = feature.missing === null;
  if (unit === "years") input.inputMode = "numeric";
  input.value = draft ?? "";
  const value = () => {
    const text = input.value.trim();
    if (!text) return feature.missing !== null && !input.validity.badInput ? {} : { mistake: words.enter(accepted) };
    let number;
    try {
      number = feature.numberOf(text);
    } catch {
      return { mistake: words.isNot(isolated(text), accepted) };
    }
    const counted = Math.min(high, Math.max(low, number)); // as the device does it
    const told = counted === number ? shown(number) : words.clipped(shown(number), shown(counted));
    return { given: feature.dateOf(counted), told };
  };
  const label = element("label", { for: id, dir: "auto" }, feature.label);
  const node = element("div", { class: "field" }, label, hint, input, remark);
  return { node, value, target: () => input, draft: () => input.value || null };
}

/** What leaves the device, in plain words. */

import { symbolsOf } from "./answer.js";
import { TOTAL, counted, least, most } from "./checks.js";
import { MEANING, operatorSays, promises, quoted } from "./promise.js";

const MOST_SHOWN = 4;

/**
 * What a report says: `sentences` for a person to read, the `hints` it gives, and the `guarantees`, with conditions.
 *
 * `hints` are `{ about, hint, least, most }`: the chance of giving this hint lies between `least` and `most`, whatever
 * the true values are. `guarantees` are those of `promises(plan)`, the last about all answers together.
 */
export function explain(plan, report) {
  const hints = symbolsOf(plan, report).map(([question, symbol]) => hintOf(plan, question, symbol));
  const guarantees = promises(plan);
  const others = plan.menus.length - 1;
  const sentences = [
    `Chance alone, not what you entered, chose what to ask${others ? `, out of ${others + 1} menus` : ""}.`,
    ...hints.map(
      ({ about, hint, least, most }) =>
        `About ${about}, your report hints at ${hint}. Your device gives this hint with a chance of at least ` +
        `${percent(least, Math.floor)} and at most ${percent(most, Math.ceil)}, whatever the truth is.`,
    ),
    ...guarantees.map(({ sentence }) => sentence),
    MEANING,
    `${operatorSays(plan)}.`,
  ];
  return { sentences, hints, guarantees };
}

/** A symbol hints at the input levels that are most likely to give it. */
function hintOf(plan, question, symbol) {
  const table = plan.tables[question.table];
  const weights = counted(table.levels).map((level) => table.weight(level, symbol));
  const highest = most(weights);
  const likely = counted(table.levels).filter((level) => weights[level] >= highest * (1 - 1e-6)); // rounded weights
  const shown = likely.slice(0, MOST_SHOWN).map((level) => levelWords(plan, question, level));
  const rest = likely.length - shown.length;
  const known = likely.length === table.levels;
  return {
    about: listed(question.features.map((name) => quoted(plan.features.get(name).label)), "and"),
    hint: known ? "nothing" : listed(rest ? [...shown, `${rest} more`] : shown, "or"),
    least: least(weights) / TOTAL,
    most: highest / TOTAL,
  };
}

function levelWords(plan, question, level) {
  if (question.kind === "product") {
    const value = ((2 * level) / (question.levels[0] - 1) - 1).toLocaleString("en");
    return `${question.features.length === 1 ? "a square" : "a product"} near ${value} (of -1 to 1)`;
  }
  const digits = [];
  for (let index = question.levels.length - 1, rest = level; index >= 0; index -= 1) {
    digits.unshift(rest % question.levels[index]);
    rest = Math.floor(rest / question.levels[index]);
  }
  const words = digits.map((digit, index) => {
    const feature = plan.features.get(question.features[index]);
    if (feature.type !== "numeric") return valueWord(feature, digit);
    const [low, high] = feature.bounds;
    const cuts = question.cuts?.[index];
    if (cuts) return [low, ...cuts, high].slice(digit, digit + 2).map((end) => end.toLocaleString("en")).join(" to ");
    return `near ${(low + ((high - low) * digit) / (question.levels[index] - 1)).toLocaleString("en")}`;
  });
  return listed(words, "and");
}

/** The value of a feature in words; the usual values of a binary one are no and yes. */
export function valueWord({ type, values, plain }, digit) {
  return type === "binary" && plain ? ["no", "yes"][digit] : String(values[digit]);
}

/** A chance in percent, rounded to the side of what is claimed; small ones with two decimals. */
function percent(chance, round) {
  const digits = chance < 0.1 ? 100 : 1;
  return `${round(chance * 100 * digits) / digits}%`;
}

function listed(parts, word) {
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} ${word} ${parts.at(-1)}` : parts[0];
}

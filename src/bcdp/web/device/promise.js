/**
 * What a plan promises, on which condition, and what is left without it: words made from the plan's numbers alone.
 *
 * The text `correlation.source` is whatever the operator wrote; it is quoted as that and decides nothing. Python makes
 * the same words (`present/promise.py`).
 */

import { boundsOf, certify } from "./certificate.js";
import { most } from "./checks.js";
import { stronger } from "./correlation.js";
import { chanceOf, oddsOf } from "./exact.js";
import { pythonFloat } from "./spelling.js";

export const NOTHING_ASSUMED = "with nothing assumed, however the answers are related";
export const MEANING =
  "A condition is about what the guesser knows: between people who differ in the answer, the chance of anything " +
  "about their other answers differs by at most q. Against somebody who knows of closer links, in general or for one " +
  "person, only the promise with nothing assumed holds. Each promise is about one answer and one report.";
const LARGE_ODDS = 1e6;
const MOST_QUOTED = 300; // characters of what the operator wrote

/**
 * The promise for each feature, then that for all answers together, computed again whatever the plan claims:
 * `{ name, label, odds, becomes, told, condition, left, sentence }`. `odds` is the factor by which one report can raise
 * the odds of a guess, `becomes` the percentage that a guess at 50% can reach, `told` both in words, `left` what holds
 * if the condition fails, and `sentence` all of it.
 */
export function promises(plan) {
  if (!known.has(plan)) known.set(plan, computed(plan));
  return known.get(plan);
}

const known = new WeakMap(); // a plan of many joint tables takes seconds

function computed(plan) {
  const { menus, correlation } = plan;
  const models = [correlation, ...[1, 2, Infinity].map((factor) => stronger(correlation, factor))];
  const parts = menus.map((menu) => models.map((model) => certify({ ...plan, menus: [menu], correlation: model })));
  const found = [...plan.features].map(([name, { label }]) => {
    const levels = parts.map((part) => part.map(({ delta }) => delta.get(name)));
    const [stated, , twice, certain] = models.map((_, index) => most(levels.map((part) => part[index])));
    const nothing = Math.max(certain, stated); // the last digits of doubles
    const level = oddsOf(nothing) === oddsOf(stated) ? nothing : stated; // what is told then holds without a condition
    const needed = menus.filter((_, index) => levels[index][3] > level);
    const byQ = menus.filter((_, index) => levels[index][3] > level && levels[index][1] <= level);
    const bounds = byQ.map((menu) => menuBounds(plan, menu, name));
    const byLaws = byQ.length < needed.length;
    const doubled = byLaws || bounds.some(({ q }) => q > 0) ? twice : null;
    return promise(name, label, level, conditionOf(plan, name, bounds, byLaws), doubled, nothing, numbersOf(bounds));
  });
  const whole = most(parts.map(([{ epsilon }]) => epsilon));
  return [...found, promise(null, "all answers together", whole, NOTHING_ASSUMED, null, whole)];
}

/** Where q comes from in the operator's own words, which nothing checks. */
export const operatorSays = ({ correlation: { source } }) =>
  `Where q comes from, the operator says and nobody has checked: ${quoted(source)}`;

/** What somebody wrote, between quotation marks that it cannot leave: on one line, nothing invisible, not too long. */
export function quoted(text) {
  const letters = Array.from(text);
  const shown = letters.length > MOST_QUOTED ? `${letters.slice(0, MOST_QUOTED - 3).join("")}...` : text;
  const plain = shown.replace(/[“”]/g, '"');
  return `“${plain.replace(/(?! )[\p{C}\p{Z}]/gu, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`)}”`;
}

/** A factor of odds to read, with two decimals. */
export function factor(odds) {
  if (odds === Infinity) return "any";
  return odds.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

function promise(name, label, level, condition, twice, nothing, numbers = "q") {
  const [odds, becomes] = [oddsOf(level), chanceOf(level)];
  const times = (nats) => `at most ${factor(oddsOf(nats))} times`;
  const conditional = condition !== NOTHING_ASSUMED;
  const left = conditional
    ? `${twice === null ? "" : `${times(twice)} at twice ${numbers}, `}${times(nothing)} with nothing assumed`
    : "it has no condition";
  const told = `${times(level)} (a guess at 50% becomes at most ${becomes.toFixed(1)}%)`;
  const sentence =
    `Whoever sees the report can raise the odds of a guess about ${quoted(label)} ${told}, ${condition}.` +
    (conditional ? ` If that is wrong: ${left}.` : "");
  return { name, label, odds, becomes, told, condition, left, sentence };
}

function menuBounds(plan, menu, name) {
  const questions = menu.questions.map((number) => plan.questions[number]);
  const others = questions.flatMap(({ features }) => features).filter((other) => other !== name);
  return boundsOf(plan.correlation, questions)(name, others);
}

/**
 * The condition of a feature whose level rests on these bounds, and on laws that the plan states.
 *
 * A q that the odds imply is not told, nor odds beside a q of 0.
 */
function conditionOf(plan, name, bounds, byLaws) {
  const implied = ({ odds }) => (odds === Infinity ? 1 : (odds - 1) / (odds + 1));
  const points = sorted(bounds.filter((within) => within.q < 1 && within.q < implied(within)).map(({ q }) => pointsOf(q)));
  const times = sorted(bounds.filter(({ q, odds }) => q > 0 && odds < Infinity).map(({ odds }) => timesOf(odds)));
  const parts = points.length ? [moved(points[0], points.at(-1))] : [];
  if (times.length) parts.push(learned(times[0], times.at(-1)));
  if (byLaws) parts.push("the other answers depend on it as the plan's table of shares says");
  return parts.length ? `if ${parts.join(", and ")}${covered(plan, name)}` : NOTHING_ASSUMED;
}

const sorted = (numbers) => numbers.sort((a, b) => a - b);

/** What is doubled where the condition is: the numbers that the bounds state. */
function numbersOf(bounds) {
  if (bounds.every(({ odds }) => odds === Infinity)) return "q";
  return bounds.every(({ q }) => q === 1) ? "the odds" : "q and odds";
}

/** Which guesses about a feature are meant, if not all: what was measured by ranges speaks of ranges only. */
function covered({ correlation: { ranges }, features }, name) {
  if (!ranges.has(name)) return "";
  const { bounds, cuts } = features.get(name);
  const ends = [bounds[0], ...cuts, bounds[1]].map((end) => plainly(Number(end.toPrecision(15))));
  const words = ends.slice(1).map((end, place) => `${ends[place]} to ${end}`);
  return `, for guesses which of these ranges it is in and no finer ones: ${words.join(", ")}`;
}

const plainly = (number) => pythonFloat(number).replace(/\.0$/, "");

function moved(low, high) {
  if (high === 0) return "the other answers do not move with it at all (q = 0)";
  const by = "the other answers move by at most q =";
  if (low < high) return `${by} ${low} to ${high} percentage points with it, as the plan lists`;
  return `${by} ${high} percentage point${high === 1 ? "" : "s"} with it`;
}

/** A q in percentage points, rounded down to hundredths: a condition is never told weaker than it is. */
function pointsOf(q) {
  let hundredths = Math.floor(10_000 * q) + 1;
  while (hundredths / 10_000 > q) hundredths -= 1;
  return hundredths / 100;
}

function learned(low, high) {
  const most = "knowing all the other answers could move the odds of it at most";
  if (low < high) return `${most} ${plainly(low)} to ${plainly(high)} times, as the plan lists`;
  return `${most} ${plainly(high)} times`;
}

/** Odds rounded down to hundredths, large ones to whole numbers: a condition is never told weaker than it is. */
function timesOf(odds) {
  if (odds >= LARGE_ODDS) return Math.floor(odds);
  let hundredths = Math.floor(100 * odds) + 1;
  while (hundredths / 100 > odds) hundredths -= 1;
  return hundredths / 100;
}

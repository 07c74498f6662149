/** The sentences of the page, made from numbers. */

import { chanceOf, oddsOf } from "../device/exact.js";
import { number } from "../page.js";

/** What a level promises; rounded up, as every claim is. */
export function levelSentence(level) {
  const [becomes, odds] = [chanceOf(level), oddsOf(level)];
  const factor = odds.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return `a guess at 50% becomes at most ${becomes.toFixed(1)}% (odds rise at most ${factor} times)`;
}

/** What is assumed by odds. */
export function oddsSentence(odds) {
  if (odds === undefined) return "no limit: nothing is assumed by it";
  const becomes = number((100 * odds) / (1 + odds));
  return `knowing everything else about a person could move the odds of an answer at most ${number(odds)} times: from 50% to ${becomes}%`;
}

/** What is assumed by q. */
export function qSentence(q) {
  if (q === undefined || q >= 1) return "no limit: nothing is assumed by it";
  return `between people who differ in one answer, the chance of anything about their other answers differs by at most ${number(100 * q)} percentage points`;
}

/** Whether what is learned of a feature is a share, not a mean in its own units. */
export const isShare = ({ type }) => type !== "numeric" && type !== "ordinal";

/** Between what the mean of a feature lies: its bounds, or its scores. */
export function endsOf({ type, bounds, values, scores }) {
  if (type !== "ordinal") return bounds.map(Number);
  return scores ? [scores[0], scores[scores.length - 1]] : [1, values.length];
}

/** An error in a feature's own units. */
export function own(feature, error) {
  if (error === null) return "not asked";
  return isShare(feature) ? `${digits(100 * error)} points` : digits(error);
}

/** What an estimate would look like: an example with its 95% interval, two standard errors to either side. */
export function example(feature, error) {
  if (error === null) return "not asked, so nothing is learned";
  if (isShare(feature)) return `50% ± ${digits(200 * error)} points`;
  const [low, high] = endsOf(feature);
  const middle = (low + high) / 2;
  return `${number(middle)} ± ${digits(2 * error)}`;
}

/** An error to read: two digits, all of a whole number. */
export function digits(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  return value.toLocaleString(
    "en",
    Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 },
  );
}

/** The range of a feature in its own units. */
export function spanOf(feature) {
  const [low, high] = isShare(feature) ? [0, 1] : endsOf(feature);
  return high - low;
}

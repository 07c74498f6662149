/** Bounds that were computed or measured for sets of features; loaded with the plans that list them. */

import { areCuts, checkOdds, checkShare, entries, list, namesAmong, refuse } from "../checks.js";
import { inUnits, total } from "../exact.js";

/** @typedef {import("./features.js").Feature} Feature */
/**
 * @template T
 * @typedef {import("./features.js").Named<T>} Named
 */
/** @typedef {import("./correlation.js").Bound} Bound */
/** @typedef {import("../checks.js").Check} Check */
/** @typedef {import("./correlation.js").Correlation} Correlation */
/** @typedef {(path: string, rows: any, check?: Check) => (name: string, others: readonly string[]) => any} Distances */

const FARTHEST_FROM_1 = 1n << 30n; // one part in so many, for the sum of a law

/** @type {(document: any, features: Named<Feature>) => Correlation & { source: string }} */
export function readListed(document, features) {
  /** @type {(others: readonly string[]) => string[]} */
  const set = (others) => [...new Set(others)].sort();
  /** @type {Distances} */
  const distances = (path, rows, check = checkShare) =>
    known(path, rows, (others, most) => {
      check(path, most);
      list(path, others).forEach((other) => checkName(path, other));
      return set(others);
    });
  /** @type {(key: string) => any} */
  const stated = (key) => (key in document ? document[key] : []);
  const bounds = distances("correlation.bounds", document.bounds);
  const products = distances("correlation.products", stated("products"));
  const odds = coveringOdds(stated("odds"), distances);
  const laws = known("correlation.laws", stated("laws"), (other, rows, name) => {
    list("correlation.laws", rows, 1).forEach((row) => checkLaw(row, rows[0]?.length));
    checkName("correlation.laws", other);
    checkTold(features.get(other), rows[0].length, name, other);
    return other;
  });
  return {
    source: document.source,
    rounded: new Set("rounded" in document ? readRounded(document.rounded, features) : []),
    ranges: new Map("ranges" in document ? readRanges(document.ranges, features) : []),
    cuts: new Map("cuts" in document ? readCuts(document.cuts, features) : []),
    productQ: (name, numbers) => products(name, set(numbers)) ?? 1,
    q: (name, others) => (others.length ? (bounds(name, set(others)) ?? 1) : 0),
    odds: (name, others) => (others.length ? odds(name, others) : 1),
    laws: (name, other) => laws(name, other) ?? null,
    alike: false,
  };
}

/**
 * The least odds that are stated for a set that holds these others: what holds for a set holds for its subsets.
 * @type {(rows: [string, string[], number][], checked: Distances) => Bound}
 */
function coveringOdds(rows, checked) {
  checked("correlation.odds", rows, checkOdds);
  const byFeature = /** @type {Named<{ set: Set<string>, odds: number }[]>} */ (
    new Map(rows.map(([name]) => [name, []]))
  );
  for (const [name, set, odds] of rows) byFeature.get(name).push({ set: new Set(set), odds });
  return (feature, others) =>
    (byFeature.get(feature) ?? [])
      .filter(({ set }) => others.every((other) => set.has(other)))
      .reduce((least, { odds }) => Math.min(least, odds), Infinity);
}

/**
 * All numbers are seen through one rounding or none is: among factors, whatever is not marked counts as a sign.
 * @type {(stated: any, features: Named<Feature>) => string[]}
 */
function readRounded(stated, features) {
  const numbers = [...features].filter(([, { type }]) => type === "numeric").map(([name]) => name);
  if (namesAmong("correlation.rounded", stated, numbers).length < numbers.length) {
    throw refuse("correlation.rounded", stated, "all numeric features, or no such key");
  }
  return stated;
}

/**
 * The ranges that the bounds speak of are those of the features.
 * @type {(stated: any, features: Named<Feature>) => [string, number[]][]}
 */
function readRanges(stated, features) {
  const ranges = entries("correlation.ranges", stated);
  if (!ranges.length) throw refuse("correlation.ranges", stated, "at least one number");
  for (const [name, cuts] of ranges) {
    const own = features.get(name)?.cuts;
    if (!Array.isArray(cuts) || cuts.length !== own?.length || !cuts.every((cut, place) => cut === own[place])) {
      throw refuse(`correlation.ranges.${name}`, cuts, "the ranges of the feature");
    }
  }
  return ranges;
}

/**
 * At which cuts the bounds tell numbers apart, as others.
 * @type {(stated: any, features: Named<Feature>) => [string, number[]][]}
 */
function readCuts(stated, features) {
  const cuts = entries("correlation.cuts", stated);
  if (!cuts.length || !cuts.every(([name, own]) => areCuts(own, features.get(name)?.bounds))) {
    throw refuse("correlation.cuts", stated, "for a number rising cuts inside the bounds");
  }
  return cuts;
}

/**
 * A law has one share for each value of another feature than the one given; numbers have no values.
 * @type {(feature: Feature | undefined, shares: number, name: string, other: string) => void}
 */
function checkTold(feature, shares, name, other) {
  if (name === other || (feature && feature.inputs !== shares)) {
    throw refuse(`correlation.laws of ${other}`, shares, "another feature, one share for each value");
  }
}

/**
 * What rows `[feature, others, statement]` state, by feature and others; each is stated once.
 * @type {(path: string, rows: any, checked: (others: any, statement: any, name: string) => string | string[]) =>
 *   (name: string, others: string | readonly string[]) => any}
 */
function known(path, rows, checked) {
  const statements = new Map();
  /** @type {(name: string, others: string | readonly string[]) => string} */
  const key = (name, others) => JSON.stringify([name, others]);
  for (const row of list(path, rows)) {
    if (list(path, row, 3).length !== 3) throw refuse(path, row, "three entries");
    checkName(path, row[0]);
    const place = key(row[0], checked(row[1], row[2], row[0]));
    if (statements.has(place)) throw refuse(path, row, "each feature and others once");
    statements.set(place, row[2]);
  }
  return (name, others) => statements.get(key(name, others));
}

/** @type {(path: string, name: unknown) => void} */
function checkName(path, name) {
  if (typeof name !== "string") throw refuse(path, name, "names of features");
}

/** @type {(row: any, length: number) => void} */
function checkLaw(row, length) {
  list("correlation.laws", row, 1).forEach((share) => checkShare("correlation.laws", share));
  const { parts, unit } = inUnits(row);
  const above = total(parts) - unit;
  if (row.length !== length || (above < 0n ? -above : above) * FARTHEST_FROM_1 > unit) {
    throw refuse("correlation.laws", row, "probabilities that sum to 1");
  }
}

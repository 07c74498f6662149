/** How correlated the features are: an assumption of the person who planned, which the plan states. */

import { areCuts, entries, keys, list, namesAmong, refuse } from "./checks.js";
import { inUnits, total } from "./exact.js";

const KEYS = {
  "per feature": [["kind", "default", "named", "source"], ["odds"]],
  listed: [["kind", "bounds", "source"], ["laws", "rounded", "products", "ranges", "odds", "cuts"]],
};
const FARTHEST_FROM_1 = 1n << 30n; // one part in so many, for the sum of a law

/**
 * The plan's assumption: `q(feature, others)` bounds the distance between the laws of the others given two values of a
 * feature; `odds(feature, others)` how many times knowing the others could move the odds of a guess about it, Infinity
 * where nothing is stated; `laws(feature, other)` are laws of which every such law of the other is a mixture, null if none are known.
 * Of the numbers in `rounded` the bounds see no more than one random rounding to 17 inputs; `productQ(feature, numbers)`
 * bounds one rounding of the product of two of them, or of the square of one. Of the numbers in `ranges`, as features
 * that are given, they see no more than which range each is in; its cuts are stated. `cuts` are those at which `q` tells
 * numbers of `rounded` apart besides their inputs. `alike` says that a feature's bounds are the same for all sets of others
 * but the empty one.
 */
export function readCorrelation(document, features) {
  const kind = document?.kind;
  if (typeof kind !== "string" || !Object.hasOwn(KEYS, kind)) {
    throw refuse("correlation.kind", kind, "per feature or listed");
  }
  keys("correlation", document, ...KEYS[kind]);
  if (typeof document.source !== "string") throw refuse("correlation.source", document.source, "text");
  return kind === "per feature" ? perFeature(document) : listed(document, features);
}

/** The same numbers times a factor, q at most 1, and no laws; an infinite factor assumes nothing (`Stronger` in Python). */
export function stronger({ q, odds, productQ, rounded, ranges, cuts, alike }, factor) {
  const more = (bound) => (factor === Infinity ? 1 : Math.min(1, factor * bound));
  return {
    rounded,
    cuts,
    ranges: factor === Infinity ? new Map() : ranges,
    productQ: (name, numbers) => more(productQ(name, numbers)),
    q: (name, others) => (others.length ? more(q(name, others)) : 0),
    odds: (name, others) => (others.length ? factor * odds(name, others) : 1),
    laws: () => null,
    alike: alike || factor === Infinity,
  };
}

function perFeature(document) {
  const named = new Map(entries("correlation.named", document.named));
  for (const q of [document.default, ...named.values()]) checkShare("correlation", q);
  const q = (name, others) => (others.length ? named.get(name) ?? document.default : 0);
  const odds = "odds" in document ? oddsPerFeature(document.odds) : () => Infinity;
  return {
    source: document.source,
    q,
    odds: (name, others) => (others.length ? odds(name) : 1),
    laws: () => null,
    rounded: new Set(),
    productQ: () => 1,
    ranges: new Map(),
    cuts: new Map(),
    alike: true,
  };
}

/** The odds by default and of the named features; parts that are not stated have no limit. */
function oddsPerFeature(stated) {
  keys("correlation.odds", stated, [], ["default", "named"]);
  if (!Object.keys(stated).length) throw refuse("correlation.odds", stated, "default or named or both");
  const named = new Map("named" in stated ? entries("correlation.odds.named", stated.named) : []);
  if ("default" in stated) checkOdds("correlation.odds.default", stated.default);
  for (const odds of named.values()) checkOdds("correlation.odds.named", odds);
  return (name) => named.get(name) ?? stated.default ?? Infinity;
}

function listed(document, features) {
  const set = (others) => [...new Set(others)].sort();
  const distances = (path, rows, check = checkShare) =>
    known(path, rows, (others, most) => {
      check(path, most);
      list(path, others).forEach((other) => checkName(path, other));
      return set(others);
    });
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
    q: (name, others) => (others.length ? bounds(name, set(others)) ?? 1 : 0),
    odds: (name, others) => (others.length ? odds(name, others) : 1),
    laws: (name, other) => laws(name, other) ?? null,
    alike: false,
  };
}

/** The least odds that are stated for a set that holds these others: what holds for a set holds for its subsets. */
function coveringOdds(rows, checked) {
  checked("correlation.odds", rows, checkOdds);
  const byFeature = new Map(rows.map(([name]) => [name, []]));
  for (const [name, set, odds] of rows) byFeature.get(name).push({ set: new Set(set), odds });
  return (feature, others) =>
    (byFeature.get(feature) ?? [])
      .filter(({ set }) => others.every((other) => set.has(other)))
      .reduce((least, { odds }) => Math.min(least, odds), Infinity);
}

/** All numbers are seen through one rounding or none is: among factors, whatever is not marked counts as a sign. */
function readRounded(stated, features) {
  const numbers = [...features].filter(([, { type }]) => type === "numeric").map(([name]) => name);
  if (namesAmong("correlation.rounded", stated, numbers).length < numbers.length) {
    throw refuse("correlation.rounded", stated, "all numeric features, or no such key");
  }
  return stated;
}

/** The ranges that the bounds speak of are those of the features. */
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

/** At which cuts the bounds tell numbers apart, as others. */
function readCuts(stated, features) {
  const cuts = entries("correlation.cuts", stated);
  if (!cuts.length || !cuts.every(([name, own]) => areCuts(own, features.get(name)?.bounds))) {
    throw refuse("correlation.cuts", stated, "for a number rising cuts inside the bounds");
  }
  return cuts;
}

/** A law has one share for each value of another feature than the one given; numbers have no values. */
function checkTold(feature, shares, name, other) {
  if (name === other || (feature && feature.inputs !== shares)) {
    throw refuse(`correlation.laws of ${other}`, shares, "another feature, one share for each value");
  }
}

/** What rows `[feature, others, statement]` state, by feature and others; each is stated once. */
function known(path, rows, checked) {
  const statements = new Map();
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

function checkName(path, name) {
  if (typeof name !== "string") throw refuse(path, name, "names of features");
}

function checkShare(path, share) {
  if (!(typeof share === "number" && share >= 0 && share <= 1)) throw refuse(path, share, "numbers from 0 to 1");
}

function checkOdds(path, odds) {
  if (!(Number.isFinite(odds) && odds >= 1)) throw refuse(path, odds, "finite numbers of at least 1");
}

function checkLaw(row, length) {
  list("correlation.laws", row, 1).forEach((share) => checkShare("correlation.laws", share));
  const { parts, unit } = inUnits(row);
  const above = total(parts) - unit;
  if (row.length !== length || (above < 0n ? -above : above) * FARTHEST_FROM_1 > unit) {
    throw refuse("correlation.laws", row, "probabilities that sum to 1");
  }
}

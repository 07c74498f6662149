/** How correlated the features are: an assumption of the person who planned, which the plan states. */

import { checkOdds, checkShare, entries, keys, refuse } from "../checks.js";

/** @typedef {import("./features.js").Feature} Feature */
/**
 * @template T
 * @typedef {import("./features.js").Named<T>} Named
 */
/** @typedef {(name: string, others: readonly string[]) => number} Bound */
/**
 * @typedef {{ q: Bound, odds: Bound, productQ: Bound, laws: (name: string, other: string) => number[][] | null,
 *   rounded: ReadonlySet<string>, ranges: ReadonlyMap<string, number[]>, cuts: ReadonlyMap<string, number[]>,
 *   alike: boolean }} Correlation
 */

/** @type {Record<string, [string[], string[]]>} */
const KEYS = {
  "per feature": [["kind", "default", "named", "source"], ["odds"]],
  listed: [
    ["kind", "bounds", "source"],
    ["laws", "rounded", "products", "ranges", "odds", "cuts"],
  ],
};

/**
 * The plan's assumption: `q(feature, others)` bounds the distance between the laws of the others given two values of a
 * feature; `odds(feature, others)` how many times knowing the others could move the odds of a guess about it, Infinity
 * where nothing is stated; `laws(feature, other)` are laws of which every such law of the other is a mixture, null if none are known.
 * Of the numbers in `rounded` the bounds see no more than one random rounding to 17 inputs; `productQ(feature, numbers)`
 * bounds one rounding of the product of two of them, or of the square of one. Of the numbers in `ranges`, as features
 * that are given, they see no more than which range each is in; its cuts are stated. `cuts` are those at which `q` tells
 * numbers of `rounded` apart besides their inputs. `alike` says that a feature's bounds are the same for all sets of others
 * but the empty one.
 * @type {(document: any, features: Named<Feature>) => Promise<Correlation & { source: string }>}
 */
export async function readCorrelation(document, features) {
  const kind = document?.kind;
  if (typeof kind !== "string" || !Object.hasOwn(KEYS, kind)) {
    throw refuse("correlation.kind", kind, "per feature or listed");
  }
  keys("correlation", document, ...KEYS[kind]);
  if (typeof document.source !== "string") throw refuse("correlation.source", document.source, "text");
  return kind === "per feature" ? perFeature(document) : (await import("./listed.js")).readListed(document, features);
}

/**
 * The same numbers times a factor, q at most 1, and no laws; an infinite factor assumes nothing (`Stronger` in Python).
 * @type {(stated: Correlation, factor: number) => Correlation}
 */
export function stronger({ q, odds, productQ, rounded, ranges, cuts, alike }, factor) {
  /** @type {(bound: number) => number} */
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

/**
 * The same numbers with q and odds - 1 of the features with a second demand as many times as large, and no laws (`Exceeded`
 * in Python).
 * @type {(stated: Correlation, features: Named<Feature>) => Correlation}
 */
export function exceeded({ q, odds, productQ, ...rest }, features) {
  /** @type {(bound: Bound, larger: (stated: number, times: number) => number) => Bound} */
  const where = (bound, larger) => (name, others) => {
    const [stated, second] = [bound(name, others), features.get(name).ifWrong];
    return second ? larger(stated, second.times) : stated;
  };
  /** @type {(stated: number, times: number) => number} */
  const more = (stated, times) => Math.min(1, times * stated);
  const moreOdds = where(odds, (stated, times) => 1 + times * (stated - 1));
  return { ...rest, q: where(q, more), odds: moreOdds, productQ: where(productQ, more), laws: () => null };
}

/** @type {(document: any) => Correlation & { source: string }} */
function perFeature(document) {
  const named = new Map(entries("correlation.named", document.named));
  for (const q of [document.default, ...named.values()]) checkShare("correlation", q);
  /** @type {Bound} */
  const q = (name, others) => (others.length ? (named.get(name) ?? document.default) : 0);
  /** @type {(name: string) => number} */
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

/**
 * The odds by default and of the named features; parts that are not stated have no limit.
 * @type {(stated: any) => (name: string) => number}
 */
function oddsPerFeature(stated) {
  keys("correlation.odds", stated, [], ["default", "named"]);
  if (!Object.keys(stated).length) throw refuse("correlation.odds", stated, "default or named or both");
  const named = new Map("named" in stated ? entries("correlation.odds.named", stated.named) : []);
  if ("default" in stated) checkOdds("correlation.odds.default", stated.default);
  for (const odds of named.values()) checkOdds("correlation.odds.named", odds);
  return (name) => named.get(name) ?? stated.default ?? Infinity;
}

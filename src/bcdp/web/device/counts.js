/**
 * The main promise of a plan that trusts more than devices: what the counts of a batch reveal (theory.md, 4.8, 4.15).
 *
 * A claim is checked at its own factor, in doubles, everything rounded up. Two numbers of what one report adds to the
 * counts are enough (Theorem 11): its second moment under the blanket, and its largest value. Loaded where a plan needs it.
 */

import { binaryExcess, keptBit } from "./binary_counts.js";
import { MOST_CELLS, TOTAL, counted, entries, keys, least, most, refuse, whole } from "./checks.js";

/** @typedef {import("./reading/plan.js").Plan} Plan */
/** @typedef {import("./reading/questions.js").Question} Question */
/** @typedef {import("./reading/randomizers.js").Table & { family?: string }} Table */
/** @typedef {readonly [number, number]} Two the most and the least, or a mass in both laws */
/** @typedef {{ epsilon: number, odds: number }} Claim */
/** @typedef {{ q: number, odds: number }} Within */
/** @typedef {{ epsilon: number, c: Map<string, number>, delta: Map<string, number> }} Levels */
/**
 * `people` are the honest ones among those in a batch; `claims` are levels in nats.
 * @typedef {{ trust: "relay" | "collector", batch: number, people: number, chance: number, asked: Partial<Claim>,
 *   askedOf: ReadonlyMap<string, number>, claims: Claim & { features: ReadonlyMap<string, Claim> },
 *   check: (plan: Plan, levels: Levels, bounds: (number: number, name: string) => Within) => void }} Counts
 */
/**
 * How a menu sees a feature: overlaps of rows by own value, other's value, place and place (none where only the `ends`
 * are used), those of the rest of the menu, and what moves with the feature.
 * @typedef {{ rows: number[][][][], ends: Two, rest: Two, masses: Two[] }} View
 */
/** @typedef {(factor: number) => number} Moment */

const LEAST_PEOPLE = 1000;
const MOST_STATED = 10 ** 10;
const MOST_PEOPLE = 10 ** 8; // more count as so many
const MOST_ROWS = 512; // of a table whose rows are compared one by one
const LARGEST_EPSILON = 20;
const LARGEST_ODDS = 1e8;
const ROUNDING = 1e-9; // of the largest terms
const ABOVE = 1 + 1e-7; // the rounding of a sum of positive terms, and of its first
/** @type {("epsilon" | "odds")[]} */
const FORMS = ["epsilon", "odds"];

/**
 * What a plan states of the counts of a batch, its form checked.
 * @type {(collection: any, claims: any, features: Plan["features"]) => Counts}
 */
export function readCounts({ trust, counts, relay }, claims, features) {
  if (!["relay", "collector"].includes(trust) || (trust === "relay" && (relay ?? null) === null)) {
    throw refuse("collection.trust", trust, "relay, where there is one, or collector");
  }
  return { trust, ...readDemand("collection.counts", counts, features), claims: readClaims(claims, features), check };
}

/** @type {(path: string, counts: any, features: Plan["features"]) => Omit<Counts, "trust" | "claims" | "check">} */
function readDemand(path, counts, features) {
  keys(path, counts, ["people"], ["epsilon", "odds", "features", "chance", "honest"]);
  const { epsilon = null, odds = null, features: single = {}, chance = 1e-6, honest = 1 } = counts;
  const batch = whole(`${path}.people`, counts.people, LEAST_PEOPLE, MOST_STATED);
  const people = shareOf(batch, between(`${path}.honest`, honest, 0, 1));
  if (between(`${path}.chance`, chance, 0, 1) < 1e-15 || chance === 1 || people < 1) {
    throw refuse(path, [chance, honest], "a chance from 1e-15 to below 1, and at least one honest person");
  }
  /** @type {Partial<Claim>} */
  const asked = {};
  if (epsilon !== null) asked.epsilon = between(`${path}.epsilon`, epsilon, 0, LARGEST_EPSILON);
  if (odds !== null) asked.odds = Math.log(between(`${path}.odds`, odds, 1, LARGEST_ODDS));
  const askedOf = new Map(entries(`${path}.features`, single));
  for (const [name, own] of askedOf) {
    if (!features.has(name)) throw refuse(`${path}.features`, name, "features that are protected");
    between(`${path}.features.${name}`, own, 0, LARGEST_EPSILON);
  }
  if (!Object.keys(asked).length && !askedOf.size) throw refuse(path, counts, "epsilon, odds or features");
  return { batch, people, chance, asked, askedOf };
}

/** @type {(claims: any, features: Plan["features"]) => Counts["claims"]} */
function readClaims(claims, features) {
  const path = "certificate.counts";
  keys(path, claims, [...FORMS, "features"]);
  keys(`${path}.features`, claims.features, [...features.keys()]);
  for (const [name, claim] of Object.entries(claims.features)) keys(`${path}.features.${name}`, claim, FORMS);
  for (const claim of [claims, ...Object.values(claims.features)]) {
    for (const form of FORMS) between(path, claim[form], -Number.MIN_VALUE, Infinity);
  }
  const { epsilon, odds } = claims;
  return { epsilon, odds, features: new Map([...features.keys()].map((name) => [name, claims.features[name]])) };
}

/** @type {(path: string, value: any, above: number, most: number) => number} */
function between(path, value, above, most) {
  if (!(Number.isFinite(value) && value > above && value <= most)) {
    throw refuse(path, value, `a number above ${above} and at most ${most}`);
  }
  return value;
}

/**
 * A share of some people, rounded down: the share is the decimal number that is written.
 * @type {(people: number, share: number) => number}
 */
function shareOf(people, share) {
  const [digits, power] = share.toExponential().split("e");
  const [head, tail = ""] = digits.split(".");
  return Number((BigInt(people) * BigInt(head + tail)) / 10n ** BigInt(tail.length - Number(power)));
}

/**
 * Refuses claims that are not proved, or above what was asked. What holds for one report holds for counts, and what holds
 * for the record holds for a feature.
 * @this {Counts}
 * @param {Plan} plan
 * @param {Levels} levels
 * @param {(number: number, name: string) => Within} bounds by menu and feature
 */
function check(plan, levels, bounds) {
  const { claims, asked, askedOf } = this;
  const weights = plan.menus.map(({ weight }) => weight / TOTAL);
  const overlaps = remembered(overlapsOf);
  const tables = { overlaps, ends: remembered(endsOf(overlaps)) };
  const whole = { epsilon: levels.epsilon, delta: levels.epsilon, keep: keptBit(plan) };
  const record = { moment: recordMoment(plan, weights, tables.ends), ...whole };
  for (const form of FORMS) {
    const allowed = (/** @type {number} */ claim, /** @type {number} */ limit, /** @type {string} */ path) => {
      if (claim > limit) throw refuse(`certificate.counts.${path}`, claim, `at most the ${limit} that was asked`);
    };
    allowed(claims[form], asked[form] ?? Infinity, form);
    keep(this, record, form, claims[form], form);
    for (const [name, claim] of claims.features) {
      if (form === "epsilon") allowed(claim[form], askedOf.get(name) ?? Infinity, `features.${name}.${form}`);
      const delta = /** @type {number} */ (levels.delta.get(name));
      if (claim[form] >= Math.min(claims[form], delta)) continue;
      const views = plan.menus.map((_, number) => viewsOf(plan, number, name, bounds(number, name), tables));
      const bound = { moment: featureMoment(weights, views), epsilon: levels.epsilon, delta, keep: 0 };
      keep(this, bound, form, claim[form], `features.${name}.${form}`);
    }
  }
}

/** @type {(counts: Counts, bound: Bound, form: "epsilon" | "odds", claim: number, path: string) => void} */
function keep({ people, chance }, bound, form, claim, path) {
  if (claim >= bound.delta || proves(bound, form, claim, people, chance)) return;
  throw refuse(`certificate.counts.${path}`, claim, "a true claim, and counts may reveal more");
}

/**
 * With the levels of one report; `keep` is the chance that one binary answer, all that is asked, is kept, else 0.
 * @typedef {{ moment: Moment, epsilon: number, delta: number, keep: number }} Bound
 */

/** @type {(bound: Bound, form: "epsilon" | "odds", level: number, people: number, chance: number) => boolean} */
function proves(bound, form, level, people, chance) {
  const factor = Math.max(1, Math.exp(level) * (1 - 1e-15));
  if (form === "epsilon") return exceedsAtMost(chance, bound, factor, people);
  const twice = -2 * Math.log(chance);
  const square = Math.max(1, twice - Math.log(2 * Math.PI * twice));
  const smaller = 1 + (factor - 1) * (1 - 1 / (square + 1));
  return exceedsAtMost(chance * (1 - smaller / factor), bound, smaller, people);
}

/** @type {(allowed: number, bound: Bound, factor: number, people: number) => boolean} */
const exceedsAtMost = (allowed, bound, factor, people) =>
  excess(bound, factor, people) <= allowed || (bound.keep > 0 && binaryExcess(factor, bound.keep, people) <= allowed);

/**
 * Theorem 11: how far the chance of an event may be above `factor` times that under another record.
 * @type {(bound: Bound, factor: number, people: number) => number}
 */
function excess({ moment, epsilon, delta }, factor, people) {
  const [record, own] = [Math.exp(epsilon), Math.exp(delta)];
  const largest = Math.min(record - factor, (own - factor) * record) + 1e-12 * record;
  const second = moment(factor);
  if (largest <= 0) return 0;
  if (!Number.isFinite(second) || !Number.isFinite(largest)) return 1;
  const [n, drift] = [Math.min(people, MOST_PEOPLE), factor - 1];
  const reach = largest + drift;
  const variance = Math.max(second - drift * drift, 1e-30 * reach * reach);
  const [share, step] = [variance / (reach * reach + variance), (reach * reach + variance) / reach];
  const [beyond, spread] = [(n * drift) / step, Math.sqrt(n * share * (1 - share))];
  const h = beyond ? spread * Math.min(1, spread / beyond) : spread;
  return Math.min(1, ((squareAbove(n, share, n * share + beyond - h) * step) / (4 * n * h)) * ABOVE);
}

/**
 * The mean of `(B - start)^2` where `B > start`, B being binomial: term by term, each from the one before.
 * @type {(n: number, share: number, start: number) => number}
 */
function squareAbove(n, share, start) {
  const lowest = Math.max(0, Math.floor(start) + 1);
  if (lowest > n) return 0;
  const first = binomial(n, lowest, share);
  let total = 0;
  for (let [k, weight] = [lowest, 1]; k <= n; k += 1) {
    const term = weight * (k - start) ** 2;
    total += term;
    const following = (((n - k) / (k + 1)) * share) / (1 - share);
    const ratio = following * ((k + 1 - start) / (k - start)) ** 2; // falls
    const rest = (term * ratio) / (1 - ratio);
    if (ratio < 0.999 && rest <= 1e-10 * total) return first * (total + rest);
    weight *= following;
  }
  return first * total;
}

/**
 * At least the chance of k: Stirling's formula with Robbins' bounds.
 * @type {(n: number, k: number, share: number) => number}
 */
function binomial(n, k, share) {
  if (k === 0 || k === n) return Math.exp(n * (k === 0 ? Math.log1p(-share) : Math.log(share)));
  const apart = k / n - share;
  const far = (k / n) * Math.log1p(apart / share) + (1 - k / n) * Math.log1p(-apart / (1 - share));
  const corrections = 1 / (12 * n) - 1 / (12 * k + 1) - 1 / (12 * (n - k) + 1);
  return Math.sqrt(n / (2 * Math.PI * k * (n - k))) * Math.exp(corrections - n * far);
}

/**
 * `sum_y W(x,y) W(x',y) / w(y)` of every two rows, w being the least weight of each symbol that is ever given.
 * @type {(table: Table) => number[][]}
 */
function overlapsOf(table) {
  const inputs = counted(table.levels);
  const columns = counted(table.symbols).map((symbol) => inputs.map((input) => table.weight(input, symbol)));
  const given = columns.filter((column) => most(column) > 0);
  const lowest = given.map(least);
  if (lowest.includes(0)) return inputs.map(() => inputs.map(() => Infinity));
  const scaled = inputs.map((x) => Float64Array.from(given, (column, y) => column[x] / Math.sqrt(lowest[y])));
  return scaled.map((one) => scaled.map((other) => dot(one, other) / TOTAL));
}

/** @type {(one: ArrayLike<number>, other: ArrayLike<number>) => number} */
function dot(one, other) {
  let total = 0;
  for (let place = 0; place < one.length; place += 1) total += one[place] * other[place];
  return total;
}

/**
 * The most and the least that two rows of a table overlap.
 * @type {(overlaps: (table: Table) => number[][]) => (table: Table) => Two}
 */
const endsOf = (overlaps) => (table) => {
  const { family, levels, ratio } = table;
  if (family === "response" || family === "hadamard") {
    const [keep, other] = [table.weight(0, 0), table.weight(0, 1)];
    if (family === "response") {
      return [(keep * (keep / other) + (levels - 1) * other) / TOTAL, (2 * keep + (levels - 2) * other) / TOTAL];
    }
    const [same, cell] = [keep * (keep / other) + other, keep + other];
    return [same / cell, (same + 2 * keep) / 2 / cell];
  }
  if (levels > MOST_ROWS) return [Number(ratio.top) / Number(ratio.bottom), 1];
  const rows = overlaps(table);
  return [most(rows.map((row, x) => row[x])), least(rows.map(least))];
};

/** @type {<T>(compute: (table: Table) => T) => (table: Table) => T} */
function remembered(compute) {
  /** @type {Map<Table, any>} */
  const known = new Map();
  return (table) => {
    if (!known.has(table)) known.set(table, compute(table));
    return known.get(table);
  };
}

/** @type {(plan: Plan, questions: Question[], ends: (table: Table) => Two) => Two} */
function productEnds({ tables }, questions, ends) {
  const known = questions.map(({ table }) => ends(tables[table]));
  return [known.reduce((total, [top]) => total * top, 1), known.reduce((total, [, low]) => total * low, 1)];
}

/** @type {(plan: Plan, number: number) => Question[]} */
const questionsOf = ({ menus, questions }, number) => menus[number].questions.map((index) => questions[index]);

/**
 * The second moment between any two records, at each factor.
 * @type {(plan: Plan, weights: number[], ends: (table: Table) => Two) => Moment}
 */
function recordMoment(plan, weights, ends) {
  const menus = plan.menus.map((_, number) => productEnds(plan, questionsOf(plan, number), ends));
  const [top, low] = [0, 1].map((side) =>
    dot(
      weights,
      menus.map((menu) => menu[side]),
    ),
  );
  return (factor) => (1 + factor ** 2) * top - 2 * factor * low + ROUNDING * (1 + factor) ** 2 * top;
}

/**
 * The ways to bound what a menu reveals about a feature; the smallest counts.
 * @type {(plan: Plan, number: number, name: string, within: Within,
 *   tables: { overlaps: (table: Table) => number[][], ends: (table: Table) => Two }) => View[]}
 */
function viewsOf(plan, number, name, within, { overlaps, ends }) {
  const questions = questionsOf(plan, number);
  const masses = massesOf(within);
  const own = questions.find(({ features }) => features.includes(name));
  /** @type {(table: Table) => boolean} */
  const small = ({ levels, symbols }) => levels <= MOST_ROWS && levels * symbols <= MOST_CELLS;
  if (own === undefined) {
    /** @type {View[]} */
    const views = [{ rows: [[[[1]]]], ends: [1, 1], rest: productEnds(plan, questions, ends), masses }];
    const [{ features, kind, table }] = questions;
    const single = questions.length === 1 && features.length === 1 && kind !== "product";
    const laws = single ? plan.correlation.laws(name, features[0]) : null;
    if (!laws || !small(plan.tables[table])) return views;
    const shares = laws.map((law) => law.map((share) => share / law.reduce((sum, part) => sum + part, 0)));
    const rows = shares.map((one) => {
      const part = overlaps(plan.tables[table]).map((row) => dot(one, row));
      return shares.map((other) => [[dot(part, other)]]);
    });
    return [...views, { rows, ends: [1, 1], rest: [1, 1], masses: [[1, 1]] }];
  }
  const table = plan.tables[own.table];
  const others = questions.filter((question) => question !== own);
  const rest = productEnds(plan, others, ends);
  const ranged = own.features.length > 1 && plan.correlation.ranges.has(name);
  if (own.kind !== undefined || ranged || !small(table)) return [{ rows: [], ends: ends(table), rest, masses }];
  const position = own.features.indexOf(name);
  const size = own.levels[position];
  const below = own.levels.slice(position + 1).reduce((total, levels) => total * levels, 1);
  const starts = counted(table.levels).filter((x) => Math.floor(x / below) % size === 0);
  const matrix = overlaps(table);
  /** @type {(a: number, b: number) => number[][]} */
  const block = (a, b) => starts.map((z) => starts.map((t) => matrix[z + a * below][t + b * below]));
  const rows = counted(size).map((a) => counted(size).map((b) => block(a, b)));
  return [{ rows, ends: [1, 1], rest, masses }];
}

/**
 * The masses of three parts of two laws within q and odds, those that are there.
 * @type {(within: Within) => Two[]}
 */
function massesOf({ q, odds }) {
  const bounded = odds === Infinity ? 0 : odds === 1 ? 0 : Math.min(q / (odds - 1), 1 / (odds + 1));
  const larger = odds === Infinity ? q : odds * bounded;
  const common = Math.max(0, 1 - larger - bounded);
  /** @type {Two[]} */
  const parts = [[larger, bounded], [bounded, larger], [common, common]]; // prettier-ignore
  return parts.filter(([one, other]) => one + other > 0);
}

/**
 * The second moment between any two values of a feature, at each factor.
 * @type {(weights: number[], views: View[][]) => Moment}
 */
const featureMoment = (weights, views) => (factor) => {
  const single = views.map((menu) => least(menu.map((view) => largestMoment(view, factor))));
  return dot(weights, single) * (1 + ROUNDING);
};

/** @type {(view: View, factor: number) => number} */
function largestMoment(view, factor) {
  const { rows, ends, rest, masses } = view;
  if (!rows.length) {
    const terms = masses.flatMap(([a, b]) =>
      masses.map(([c, d]) => {
        const cross = (a * c + factor ** 2 * b * d) * ends[0] - factor * (a * d + b * c) * ends[1];
        return Math.max(cross * rest[0], cross * rest[1]);
      }),
    );
    return terms.reduce((sum, term) => sum + term, ROUNDING * (1 + factor) ** 2 * ends[0] * rest[0]);
  }
  const largest = most(rows.map((row, a) => most(row[a].map(most))));
  const worst = most(rows.flatMap((row, a) => row.map((_, b) => momentOf(view, a, b, factor))));
  return worst + ROUNDING * (1 + factor) ** 2 * largest * rest[0];
}

/**
 * The same for two values of the feature, products of two parts each by themselves.
 * @type {(view: View, a: number, b: number, factor: number) => number}
 */
function momentOf({ rows, rest: [top, low], masses }, a, b, factor) {
  const places = counted(rows[a][a].length);
  /** @type {(one: Two, other: Two, z: number, t: number) => number} */
  const overlap = ([u, v], [w, x], z, t) =>
    u * w * rows[a][a][z][t] +
    factor ** 2 * v * x * rows[b][b][z][t] -
    factor * (u * x * rows[a][b][z][t] + v * w * rows[b][a][z][t]);
  const lengths = masses.map((part) => places.map((z) => overlap(part, part, z, z) * top));
  if (masses.length === 1) return most(lengths[0]);
  let total = 0;
  for (let k = 1; k < masses.length; k += 1) {
    for (let j = 0; j < k; j += 1) {
      let largest = -Infinity;
      for (const z of places) {
        for (const t of places) {
          const cross = overlap(masses[j], masses[k], z, t);
          const shares = (lengths[j][z] + lengths[k][t]) / (masses.length - 1);
          largest = Math.max(largest, shares + 2 * Math.max(cross * top, cross * low));
        }
      }
      total += largest;
    }
  }
  return total;
}

/**
 * What one report adds to the counts, as its second moment under the blanket (theory.md, 4.8): from how much the rows of
 * tables overlap, between any two records or any two values of a feature.
 */

import { MOST_CELLS, TOTAL, counted, least, most } from "./checks.js";

/** @typedef {import("./reading/plan.js").Plan} Plan */
/** @typedef {import("./reading/questions.js").Question} Question */
/** @typedef {import("./reading/randomizers.js").Table & { family?: string }} Table */
/** @typedef {readonly [number, number]} Two the most and the least, or a mass in both laws */
/** @typedef {{ q: number, odds: number }} Within */
/** @typedef {(factor: number) => number} Moment */
/**
 * How a menu sees a feature: overlaps of rows by own value, other's value, place and place (none where only the `ends`
 * are used), those of the rest of the menu, and what moves with the feature.
 * @typedef {{ rows: number[][][][], ends: Two, rest: Two, masses: Two[] }} View
 */

const MOST_ROWS = 512; // of a table whose rows are compared one by one
const ROUNDING = 1e-9; // of the largest terms

/**
 * `sum_y W(x,y) W(x',y) / w(y)` of every two rows, w being the least weight of each symbol that is ever given.
 * @type {(table: Table) => number[][]}
 */
export function overlapsOf(table) {
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
export const endsOf = (overlaps) => (table) => {
  const { family, levels, ratio } = table;
  if (family === "response" || family === "hadamard") {
    const [keep, other] = [table.weight(0, 0), table.weight(0, 1)];
    if (family === "response") {
      return [(keep * (keep / other) + (levels - 1) * other) / TOTAL, (2 * keep + (levels - 2) * other) / TOTAL];
    }
    const [same, cell] = [keep * (keep / other) + other, keep + other];
    return [same / cell, (same + 2 * keep) / 2 / cell];
  }
  if (table.ends) return table.ends;
  if (levels > MOST_ROWS) return [Number(ratio.top) / Number(ratio.bottom), 1];
  const rows = overlaps(table);
  return [most(rows.map((row, x) => row[x])), least(rows.map(least))];
};

/** @type {<T>(compute: (table: Table) => T) => (table: Table) => T} */
export function remembered(compute) {
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
export const questionsOf = ({ menus, questions }, number) => menus[number].questions.map((index) => questions[index]);

/**
 * The second moment between any two records, at each factor.
 * @type {(plan: Plan, weights: number[], ends: (table: Table) => Two) => Moment}
 */
export function recordMoment(plan, weights, ends) {
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
export function viewsOf(plan, number, name, within, { overlaps, ends }) {
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
 * What two laws within q and odds have of the part of which one has most.
 * @type {(within: Within) => Two}
 */
export function massMoved({ q, odds }) {
  const bounded = odds === Infinity ? 0 : odds === 1 ? 0 : Math.min(q / (odds - 1), 1 / (odds + 1));
  return [odds === Infinity ? q : odds * bounded, bounded];
}

/**
 * The masses of three parts of two laws within q and odds, those that are there.
 * @type {(within: Within) => Two[]}
 */
function massesOf(within) {
  const [larger, bounded] = massMoved(within);
  const common = Math.max(0, 1 - larger - bounded);
  /** @type {Two[]} */
  const parts = [[larger, bounded], [bounded, larger], [common, common]]; // prettier-ignore
  return parts.filter(([one, other]) => one + other > 0);
}

/**
 * The second moment between any two values of a feature, at each factor.
 * @type {(weights: number[], views: View[][]) => Moment}
 */
export const featureMoment = (weights, views) => (factor) => {
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

/** What several releases of one person reveal together (docs/theory.md, Theorem 13). */

import { InputError } from "./checks.js";
import { exactly, nearest } from "./exact.js";

/** @typedef {import("./exact.js").Ratio} Ratio */
/** @typedef {readonly [number, number]} Pair of c and epsilon */
/** @typedef {Readonly<Record<string, number>>} Levels */
/**
 * @typedef {{ plan: string, epsilon: number, c?: Levels, delta?: Levels, menus?: Readonly<Record<string, readonly Pair[]>>,
 *   open?: readonly string[] }} Release
 */

const MOST_HISTORIES = 256; // pairs of sums that are kept: beyond, neighbours are replaced by what is above both

/**
 * The level in nats of all rows together for guesses about a feature, rounded up: the smallest that is known.
 *
 * It is the sum of epsilons; or what a plan certifies on its own condition plus the epsilons of all others, the largest
 * over the plans that use the name; or, if the person states `q` or `odds` for everything asked in any plan together,
 * what follows from the sums, menu by menu. Of a row without `c` only its epsilon is known.
 * @type {(rows: readonly Release[], name: string, stated?: { q?: number, odds?: number }) => number}
 */
export function spentOn(rows, name, { q = 1, odds = Infinity } = {}) {
  if (!(q >= 0 && q <= 1)) throw new InputError(`q: got ${q}; accepted: a number from 0 to 1`);
  if (!(odds >= 1)) throw new InputError(`odds: got ${odds}; accepted: a number of at least 1`);
  if (rows.some(({ open }) => open?.includes(name))) return Infinity;
  const certified = rows.flatMap((row, own) => (uses(row, name) ? [onCondition(rows, own, name)] : []));
  const sum = totalUp(rows.map(({ epsilon }) => epsilon));
  return Math.min(sum, certified.length ? Math.max(...certified) : Infinity, onStated(rows, name, q, odds));
}

/** @type {(row: Release, name: string) => boolean} */
const uses = ({ c }, name) => c === undefined || Object.hasOwn(c, name);
/**
 * What is stated for a name, if anything.
 * @template T
 * @param {Readonly<Record<string, T>> | undefined} levels
 * @param {string} name
 * @returns {T | undefined}
 */
const of = (levels, name) => (levels && Object.hasOwn(levels, name) ? levels[name] : undefined);

/**
 * What one plan certifies plus the epsilons of all others; open values sent with these void its condition.
 * @type {(rows: readonly Release[], own: number, name: string) => number}
 */
function onCondition(rows, own, name) {
  const others = rows.filter((_, number) => number !== own);
  const kept = others.every(({ open }) => open?.length === 0);
  const alone = Math.min(of(rows[own].delta, name) ?? Infinity, rows[own].epsilon);
  return totalUp([kept ? alone : rows[own].epsilon, ...others.map(({ epsilon }) => epsilon)]);
}

/**
 * The largest level over all histories of menus, at a q and odds for everything asked.
 * @type {(rows: readonly Release[], name: string, q: number, odds: number) => number}
 */
function onStated(rows, name, q, odds) {
  /** @type {Pair[]} */
  let histories = [[0, 0]];
  for (const row of rows) {
    const c = row.c === undefined ? row.epsilon : Math.min(of(row.c, name) ?? 0, row.epsilon);
    const pairs = of(row.menus, name) ?? [[c, row.epsilon]];
    /** @type {Pair[]} */
    const sums = histories.flatMap(([c, e]) => pairs.map(([d, f]) => [totalUp([c, d]), totalUp([e, f])]));
    histories = largest(sums);
  }
  return Math.max(...histories.map(([c, epsilon]) => converted(c, epsilon, q, odds)));
}

/**
 * The pairs of c and epsilon that are above no other in both; of very many, pairs that are above them.
 * @type {(pairs: readonly Pair[]) => Pair[]}
 */
export function largest(pairs) {
  /** @type {Pair[]} */
  let kept = [];
  for (const [c, epsilon] of [...pairs].sort(([c, e], [d, f]) => f - e || d - c)) {
    if (c > (kept.at(-1)?.[0] ?? -Infinity)) kept.push([c, epsilon]);
  }
  while (kept.length > MOST_HISTORIES) {
    kept = kept.flatMap(([, e], at) => (at % 2 ? [] : [[(kept[at + 1] ?? kept[at])[0], e]])); // c rises, epsilon falls
  }
  return kept;
}

/**
 * The level that sums of c and epsilon imply (Theorems 1 and 8), above the rounding errors of the formula.
 * @type {(c: number, epsilon: number, q: number, odds: number) => number}
 */
function converted(c, epsilon, q, odds) {
  if (c >= epsilon || q === 0 || odds === 1) return Math.min(c, epsilon);
  const moved = odds === Infinity ? q : Math.min(q, (odds - 1) / (odds + 1));
  const level = c + Math.log1p(1 / (1 / (moved * Math.expm1(epsilon - c)) + 1 / (odds - 1)));
  return above(level * (1 + 1e-12));
}

/**
 * The sum of levels in nats, rounded up to a double.
 * @type {(levels: readonly number[]) => number}
 */
export function totalUp(levels) {
  if (levels.some((level) => !(level < Infinity))) return Infinity;
  const sum = levels.map(exactly).reduce(plus, { top: 0n, bottom: 1n });
  const rounded = nearest(sum);
  return below(exactly(rounded), sum) ? above(rounded) : rounded;
}

/**
 * The next double after one of at least 0.
 * @type {(number: number) => number}
 */
function above(number) {
  const bits = new BigUint64Array(Float64Array.of(number).buffer);
  bits[0] += 1n;
  return new Float64Array(bits.buffer)[0];
}

/** @type {(a: Ratio, b: Ratio) => Ratio} */
const plus = (a, b) => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });
/** @type {(a: Ratio, b: Ratio) => boolean} */
const below = (a, b) => a.top * b.bottom < b.top * a.bottom;

/**
 * Several messages of one person, each counted by itself: what their counts reveal together (theory.md, 4.19).
 *
 * The excess of a message's counts is bounded at the points of a grid and convex between them: nowhere above the lower
 * hull. That is the excess of a pair of laws whose ratios are on the grid, and ratios of independent counts multiply.
 */

/** @typedef {(factor: number) => number} Excess */
/** @typedef {{ chances: Float64Array, beyond: number }} Pair chances of ratios, the middle one 1, and of one without bound */

const FINENESS = 64;
const MOST_STEPS = 768;
const NEGLIGIBLE = 1e-13;
const LOST = 1e-11; // by rounding

/**
 * The excess of independent counts, from that of each; equal ones are the same function.
 * @type {(single: Excess[]) => Excess}
 */
export function together(single) {
  /** @type {Map<number, number>} */
  const known = new Map();
  return (factor) => {
    if (!known.has(factor)) known.set(factor, factor > 1 ? composed(single, factor) : 1);
    return /** @type {number} */ (known.get(factor));
  };
}

/** @type {(single: Excess[], factor: number) => number} */
function composed(single, factor) {
  const step = 2 ** Math.floor(Math.log2(Math.log(factor) / FINENESS));
  const pairs = new Map([...new Set(single)].map((excess) => [excess, pairOf(excess, step)]));
  const each = single.map((excess) => /** @type {Pair} */ (pairs.get(excess)));
  const chances = each.map((pair) => pair.chances).reduce(convolved);
  const middle = (chances.length - 1) / 2;
  let total = LOST + each.reduce((sum, { beyond }) => sum + beyond, 0);
  for (let place = 0; place < chances.length; place += 1) {
    const ratio = Math.exp(step * (place - middle));
    if (ratio > factor) total += chances[place] * (1 - factor / ratio);
  }
  return Math.min(1, total);
}

/** @type {(excess: Excess, step: number) => Pair} */
function pairOf(excess, step) {
  const right = [Math.min(1, excess(1))];
  while (right[right.length - 1] > NEGLIGIBLE && right.length <= MOST_STEPS) {
    const factor = Math.exp(step * right.length) * (1 - 1e-12);
    right.push(Math.min(right[right.length - 1], excess(factor)));
  }
  const last = right.length - 1;
  const ratios = Array.from({ length: 2 * last + 1 }, (_, place) => Math.exp(step * (place - last)));
  const values = ratios.map((ratio, place) =>
    place < last ? 1 - ratio * (1 - right[last - place]) : right[place - last],
  );
  const slopes = [right[last] - 1, ...hullSlopes(ratios, values), 0];
  const chances = Float64Array.from(ratios, (ratio, place) => Math.max(0, slopes[place + 1] - slopes[place]) * ratio);
  return { chances, beyond: right[last] };
}

/**
 * The slopes of the lower hull of points, one between each two neighbours.
 * @type {(places: number[], values: number[]) => number[]}
 */
function hullSlopes(places, values) {
  /** @type {number[]} */
  const corners = [];
  for (let place = 0; place < places.length; place += 1) {
    for (;;) {
      const [before, middle] = corners.slice(-2);
      if (corners.length < 2) break;
      const rise = (values[place] - values[before]) * (places[middle] - places[before]);
      if ((values[middle] - values[before]) * (places[place] - places[before]) < rise) break;
      corners.pop();
    }
    corners.push(place);
  }
  return corners.slice(1).flatMap((corner, number) => {
    const start = corners[number];
    const slope = (values[corner] - values[start]) / (places[corner] - places[start]);
    return Array.from({ length: corner - start }, () => slope);
  });
}

/** @type {(one: Float64Array, other: Float64Array) => Float64Array} */
function convolved(one, other) {
  const total = new Float64Array(one.length + other.length - 1);
  for (let a = 0; a < one.length; a += 1) {
    for (let b = 0; b < other.length; b += 1) total[a + b] += one[a] * other[b];
  }
  return total;
}

/**
 * The excess between two values of a feature, that of its own message (if any) and that of all at the factor `whole`.
 * @type {(own: Excess | null, record: Excess, whole: number, moved: readonly [number, number]) => Excess}
 */
export const ofFeature = (own, record, whole, moved) => (factor) => {
  const left = ownFactor(factor, whole, moved);
  if (left < 1) return 1;
  return Math.max(record(whole), own === null ? 0 : own(left));
};

/**
 * The factor that is left to a feature's own message, if all messages have `whole`: Theorem 8 solved for it.
 * @type {(factor: number, whole: number, moved: readonly [number, number]) => number}
 */
function ownFactor(factor, whole, [larger, smaller]) {
  if (larger === 0) return factor;
  if (larger === 1) return 0;
  const [linear, constant] = [larger * whole - factor * (1 - smaller), factor * smaller * whole];
  const root = Math.sqrt(linear * linear + 4 * (1 - larger) * constant);
  return (linear > 0 ? (2 * constant) / (linear + root) : (root - linear) / (2 * (1 - larger))) * (1 - 1e-12);
}

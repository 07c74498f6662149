/**
 * Exact ratios of whole numbers, at least 1; a bottom of 0 is infinity. Logarithms round up (theory.md, 4.2).
 */

/** @typedef {{ top: bigint, bottom: bigint }} Ratio */

/** @type {Ratio} */
export const ONE = { top: 1n, bottom: 1n };
/** @type {Ratio} */
export const INFINITE = { top: 1n, bottom: 0n };
const MOST_ODDS = 30; // nats: beyond, a double cannot tell hundredths of the factor apart, and nobody is protected
const PRECISION = 320n; // bits of a logarithm, of a ratio near 1 after its zeros
const SMALLEST = 1074n; // doubles are multiples of 2^-1074
const SLACK = 1n << 64n; // far above the sum of all rounding errors below, far below what a double can show

/** @type {(top: number | bigint, bottom: number | bigint) => Ratio} */
export const ratioOf = (top, bottom) => ({ top: BigInt(top), bottom: BigInt(bottom) });
/** @type {(a: Ratio, b: Ratio) => Ratio} */
export const larger = (a, b) => (a.top * b.bottom >= b.top * a.bottom ? a : b);
/** @type {(a: Ratio, b: Ratio) => Ratio} */
export const smaller = (a, b) => (larger(a, b) === a ? b : a);
/** @type {(a: Ratio, b: Ratio) => Ratio} */
export const times = (a, b) => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });
/** @type {(ratios: readonly Ratio[]) => Ratio} */
export const product = (ratios) => ratios.reduce(times, ONE);

/**
 * A double as an exact ratio.
 * @type {(number: number) => Ratio}
 */
export function exactly(number) {
  if (number === Infinity) return INFINITE;
  let bottom = 1n;
  for (; !Number.isInteger(number); number *= 2) bottom *= 2n;
  return { top: BigInt(number), bottom };
}

/**
 * Doubles as whole numbers `parts`, each that many times one over `unit`.
 * @type {(numbers: readonly number[]) => { unit: bigint, parts: bigint[] }}
 */
export function inUnits(numbers) {
  const ratios = numbers.map(exactly);
  const unit = ratios.reduce((unit, { bottom }) => (bottom > unit ? bottom : unit), 1n); // all are powers of 2
  return { unit, parts: ratios.map(({ top, bottom }) => top * (unit / bottom)) };
}

/** @type {(parts: readonly bigint[]) => bigint} */
export const total = (parts) => parts.reduce((sum, part) => sum + part, 0n);

/**
 * The double nearest to a ratio.
 * @type {(ratio: Ratio) => number}
 */
export function nearest({ top, bottom }) {
  if (bottom === 0n) return Infinity;
  const shift = 80n + BigInt(Math.max(0, bits(bottom) - bits(top)));
  const quotient = (top << shift) / bottom;
  const sticky = quotient * bottom === top << shift ? 0n : 1n; // rounds a tie the right way
  return Number(quotient * 2n + sticky) * 2 ** -Number(shift + 1n);
}

/** @type {(number: bigint) => number} */
const bits = (number) => number.toString(2).length;

/**
 * `2 atanh(top / bottom)` in units of 2^-precision, rounded down, for ratios of at most 1/3.
 * @type {(top: bigint, bottom: bigint, precision: bigint) => bigint}
 */
function twiceArtanh(top, bottom, precision) {
  const x = (top << precision) / bottom;
  const square = (x * x) >> precision;
  let sum = 0n;
  for (let power = x, odd = 1n; power > 0n; power = (power * square) >> precision, odd += 2n) sum += power / odd;
  return 2n * sum;
}

/**
 * The natural logarithm of a ratio of at least 1, rounded up: the least double that is not below it.
 * @type {(ratio: Ratio) => number}
 */
export function logUp({ top, bottom }) {
  if (bottom === 0n) return Infinity;
  if (top === bottom) return 0;
  const doublings = BigInt(bits(top / bottom) - 1);
  const power = bottom << doublings;
  const precision = PRECISION + BigInt(Math.max(0, bits(bottom) - bits(top - bottom)));
  const logarithm = twiceArtanh(top - power, top + power, precision) + doublings * twiceArtanh(1n, 3n, precision);
  const bound = logarithm + SLACK;
  const shift = BigInt(Math.max(0, bits(bound) - 53, Number(precision - SMALLEST)));
  const kept = bound >> shift;
  return Number(kept << shift === bound ? kept : kept + 1n) * 2 ** Number(shift - precision);
}

/**
 * The factor by which a level lets odds grow, in hundredths, rounded up: the least n / 100 whose level reaches it.
 *
 * A level is a logarithm rounded up to the next double, and so is that of n / 100: no other rounding is forgiven.
 * Infinite beyond 30 nats. Python has the same rule, and vectors/words/odds.json its numbers.
 * @type {(level: number) => number}
 */
export function oddsOf(level) {
  if (level > MOST_ODDS) return Infinity;
  const near = Math.max(100, Math.floor(100 * Math.exp(level)) - 2); // at most 2 off
  return first(near, (n) => logUp(ratioOf(n, 100)) >= level) / 100;
}

/**
 * How probable, in percent, a guess of 50% can become under a level; rounded up to tenths by the rule of odds.
 * @type {(level: number) => number}
 */
export function chanceOf(level) {
  const near = Math.max(500, Math.floor(1000 / (1 + Math.exp(-level))) - 1);
  return first(near, (n) => logUp(ratioOf(n, 1000 - n)) >= level) / 10;
}

/** @type {(start: number, holds: (n: number) => boolean) => number} */
function first(start, holds) {
  let n = start;
  while (!holds(n)) n += 1;
  return n;
}

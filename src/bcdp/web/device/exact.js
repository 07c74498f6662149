/**
 * Exact ratios of whole numbers, at least 1; a bottom of 0 is infinity. Logarithms round up (docs/theory.md, 4.2).
 */

export const ONE = { top: 1n, bottom: 1n };
export const INFINITE = { top: 1n, bottom: 0n };
const PRECISION = 320n;
const SLACK = 1n << 64n; // far above the sum of all rounding errors below, far below what a double can show

export const ratioOf = (top, bottom) => ({ top: BigInt(top), bottom: BigInt(bottom) });
export const larger = (a, b) => (a.top * b.bottom >= b.top * a.bottom ? a : b);
export const smaller = (a, b) => (larger(a, b) === a ? b : a);
export const times = (a, b) => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });
export const product = (ratios) => ratios.reduce(times, ONE);

/** A double as an exact ratio. */
export function exactly(number) {
  if (number === Infinity) return INFINITE;
  let bottom = 1n;
  for (; !Number.isInteger(number); number *= 2) bottom *= 2n;
  return { top: BigInt(number), bottom };
}

/** The double nearest to a ratio. */
export function nearest({ top, bottom }) {
  if (bottom === 0n) return Infinity;
  const shift = 80n + BigInt(Math.max(0, bits(bottom) - bits(top)));
  const quotient = (top << shift) / bottom;
  const sticky = quotient * bottom === top << shift ? 0n : 1n; // rounds a tie the right way
  return Number(quotient * 2n + sticky) * 2 ** -Number(shift + 1n);
}

const bits = (number) => number.toString(2).length;

/** `2 atanh(top / bottom)` in units of 2^-320, rounded down, for ratios of at most 1/3. */
function twiceArtanh(top, bottom) {
  const x = (top << PRECISION) / bottom;
  const square = (x * x) >> PRECISION;
  let sum = 0n;
  for (let power = x, odd = 1n; power > 0n; power = (power * square) >> PRECISION, odd += 2n) sum += power / odd;
  return 2n * sum;
}

/** The natural logarithm of a ratio of at least 1, never below the true value: the next double above it. */
export function logUp({ top, bottom }) {
  if (bottom === 0n) return Infinity;
  if (top === bottom) return 0;
  const doublings = BigInt(bits(top / bottom) - 1);
  const power = bottom << doublings;
  const bound = twiceArtanh(top - power, top + power) + doublings * twiceArtanh(1n, 3n) + SLACK;
  const shift = BigInt(Math.max(0, bits(bound) - 53));
  const kept = bound >> shift;
  return Number(kept << shift === bound ? kept : kept + 1n) * 2 ** Number(shift - PRECISION);
}

/** What several releases of one person tell together: levels add up (docs/theory.md, section 2). */

import { exactly, nearest } from "./exact.js";

/** The sum of levels in nats, rounded up to a double. */
export function totalUp(levels) {
  if (levels.some((level) => !(level < Infinity))) return Infinity;
  const sum = levels.map(exactly).reduce(plus, { top: 0n, bottom: 1n });
  const rounded = nearest(sum);
  return below(exactly(rounded), sum) ? above(rounded) : rounded;
}

/** The next double after one of at least 0. */
function above(number) {
  const bits = new BigUint64Array(Float64Array.of(number).buffer);
  bits[0] += 1n;
  return new Float64Array(bits.buffer)[0];
}

const plus = (a, b) => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });
const below = (a, b) => a.top * b.bottom < b.top * a.bottom;

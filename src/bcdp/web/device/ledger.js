/** What several releases of one person tell together: levels add up (docs/theory.md, section 2). */

import { exactly, nearest } from "./exact.js";

/** The sum of levels in nats, rounded up to a double. */
export function totalUp(levels) {
  if (levels.some((level) => !(level < Infinity))) return Infinity;
  const sum = levels.map(exactly).reduce(plus, { top: 0n, bottom: 1n });
  let rounded = nearest(sum);
  for (let step = 2 ** -52; below(exactly(rounded), sum); step *= 2) rounded *= 1 + step;
  return rounded;
}

const plus = (a, b) => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });
const below = (a, b) => a.top * b.bottom < b.top * a.bottom;

/** Tables of hyperplanes of a projective geometry; loaded with the plans that have one. */

import { TOTAL, refuse, whole } from "./checks.js";
import { ratioOf } from "./exact.js";

const LARGEST_FIELD = 127;
const MOST_HYPERPLANES = 2 ** 23;
const MOST_POINTS = 2 ** 20;
const MOST_DIMENSIONS = 24;

/** @typedef {{ levels: number, field: number, dimension: number, high: number, low: number }} Stated */

/** How many points, and hyperplanes, a space of this dimension has. @type {(field: number, dimension: number) => number} */
const space = (field, dimension) => (field ** dimension - 1) / (field - 1);

/**
 * The coordinates of a hyperplane: number counts the vectors whose first coordinate that is not 0 is 1, short ones first.
 * @type {(field: number, dimension: number, number: number) => number[]}
 */
function vectorOf(field, dimension, number) {
  const vector = new Array(dimension).fill(0);
  let [length, rest] = [0, number];
  while (rest >= field ** length) {
    rest -= field ** length;
    length += 1;
  }
  vector[dimension - 1 - length] = 1;
  for (let place = dimension - 1; place > dimension - 1 - length; place -= 1) {
    vector[place] = rest % field;
    rest = Math.floor(rest / field);
  }
  return vector;
}

/**
 * The sum of the products of two vectors' coordinates.
 * @type {(one: readonly number[], other: readonly number[]) => number}
 */
const inner = (one, other) => other.reduce((total, coordinate, place) => total + coordinate * one[place], 0);

/**
 * The hyperplane with an index among those that hold a point, or among those that do not (`numbered` in Python).
 *
 * The point's last coordinate that is not 0 is 1. First come hyperplanes whose coordinates before it are all 0.
 * @type {(field: number, point: readonly number[], index: number, holding: boolean) => number}
 */
function hyperplaneAt(field, point, index, holding) {
  const pivot = point.findLastIndex((coordinate) => coordinate !== 0);
  const after = point.length - 1 - pivot;
  const ways = field ** after;
  const simple = holding ? space(field, after) : ways;
  if (index < simple) return holding ? index : space(field, after) + index;
  const place = Math.floor((index - simple) / ways);
  const first = holding ? place : Math.floor(place / (field - 1));
  const product = holding ? 0 : (place % (field - 1)) + 1;
  const rest = (product - inner(point, vectorOf(field, pivot, first))) % field;
  const at = (rest + field) % field;
  return space(field, after + 1) + (first * field + at) * ways + ((index - simple) % ways);
}

/**
 * The table that a geometry describes: an input is the point of its number, whose coordinates are those of the hyperplane
 * of that number in reverse order.
 * @type {(path: string, document: Stated) => import("./reading/randomizers.js").Table}
 */
export function readProjective(path, { levels, field, dimension, high, low }) {
  whole(`${path}.levels`, levels, 2, MOST_POINTS);
  whole(`${path}.field`, field, 2, LARGEST_FIELD);
  for (let other = 2; other < field; other += 1) {
    if (field % other === 0) throw refuse(`${path}.field`, field, "a prime number");
  }
  whole(`${path}.dimension`, dimension, 2, MOST_DIMENSIONS);
  const [planes, through] = [space(field, dimension), space(field, dimension - 1)];
  if (planes < levels || planes > MOST_HYPERPLANES) {
    throw refuse(`${path}.dimension`, dimension, `one with ${levels} to ${MOST_HYPERPLANES} hyperplanes`);
  }
  whole(`${path}.low`, low, 1, TOTAL);
  whole(`${path}.high`, high, low, TOTAL);
  const likely = through * high;
  const words = likely + (planes - through) * low;
  if (words > TOTAL) throw refuse(`${path}.high`, high, `weights of which each input has at most ${TOTAL} in all`);
  /** @type {(input: number) => number[]} */
  const pointOf = (input) => vectorOf(field, dimension, input).reverse();
  const both = dimension > 2 ? space(field, dimension - 2) : 0; // hyperplanes through two points
  const [silence, twice] = [TOTAL - words, high * (high / low)];
  const same = through * twice + (planes - through) * low + silence;
  const different = both * twice + 2 * (through - both) * high + (planes - 2 * through + both) * low + silence;
  return {
    levels,
    symbols: planes + 1,
    ratio: ratioOf(high, low),
    ends: [same / TOTAL, different / TOTAL],
    weight(input, symbol) {
      if (symbol === planes) return TOTAL - words; // silence
      return inner(pointOf(input), vectorOf(field, dimension, symbol)) % field ? low : high;
    },
    sample(input, word) {
      if (word >= words) return planes;
      const holding = word < likely;
      const index = Math.floor(holding ? word / high : (word - likely) / low);
      return hyperplaneAt(field, pointOf(input), index, holding);
    },
  };
}

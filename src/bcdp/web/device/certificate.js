/** The certificate: every level recomputed from the integer tables (docs/theory.md, section 4). */

import { MOST_CELLS, counted, least, most, refuse } from "./checks.js";
import { INFINITE, ONE, exactly, larger, logUp, nearest, product, smaller, times } from "./exact.js";
import { checkCells } from "./tables.js";

/**
 * The true levels in nats, rounded up: `epsilon` of the whole report, and Maps `c` and `delta` of each feature.
 *
 * The menu is drawn without looking at the record, so every level is the largest over the menus.
 */
export function certify(plan) {
  const names = [...plan.features.keys()];
  let epsilon = ONE;
  const c = new Map(names.map((name) => [name, ONE]));
  const delta = new Map(c);
  const joint = remembered((...given) => jointRatio(plan, ...given));
  for (const menu of plan.menus) {
    const questions = menu.questions.map((number) => plan.questions[number]);
    const ratios = questions.map((question) => plan.tables[question.table].ratio);
    epsilon = larger(epsilon, product(ratios));
    const asked = questions.flatMap((question) => question.features);
    const bound = boundOf(plan.correlation, questions);
    for (const name of names) {
      const own = questions.findIndex((question) => question.features.includes(name));
      const rest = product(ratios.filter((_, index) => index !== own));
      const q = bound(name, asked.filter((other) => other !== name));
      const ratio = (bound) =>
        own >= 0 && questions[own].features.length > 1 && questions[own].kind !== "product"
          ? joint(menu.questions[own], name, bound > 0 ? nearest(rest) : 1, bound)
          : independent(own < 0 ? ONE : ratios[own], rest, bound);
      c.set(name, larger(c.get(name), ratio(0))); // with the others held fixed, BCDP is CDP
      const known = own < 0 && questions.length === 1 ? knownRatio(plan, name, questions[0]) : INFINITE;
      delta.set(name, larger(delta.get(name), smaller(ratio(q), known)));
    }
  }
  const logs = (ratios) => new Map([...ratios].map(([name, ratio]) => [name, logUp(ratio)]));
  return { epsilon: logUp(epsilon), c: logs(c), delta: logs(delta) };
}

/**
 * For a feature and the others that a menu asks, how far what the questions see of them may move with it.
 *
 * A bound about numbers rounded once to 17 levels holds for a question that rounds them to some of these; the product of
 * two, or the square of one, has a bound of its own (docs/theory.md, 4.5).
 */
function boundOf({ q, productQ, rounded }, questions) {
  const fits = ({ features, levels, kind }) =>
    features.every((name, place) => !rounded.has(name) || 16 % (levels[kind === "product" ? 0 : place] - 1) === 0);
  const multiplies = ({ features, kind }) => kind === "product" && features.every((name) => rounded.has(name));
  if (questions.every((question) => fits(question) && !multiplies(question))) return q;
  if (questions.length === 1 && fits(questions[0])) return productQ;
  return (name, others) => (others.some((other) => rounded.has(other)) ? 1 : q(name, others));
}

function remembered(compute) {
  const known = new Map();
  return (...given) => {
    const key = JSON.stringify(given.map(String));
    if (!known.has(key)) known.set(key, compute(...given));
    return known.get(key);
  };
}

/** `own (1 - q + q rest)`: the feature's own question, and independent questions about others. */
function independent(own, rest, q) {
  if (q === 0) return own;
  const { top, bottom } = exactly(q);
  return times(own, { top: (bottom - top) * rest.bottom + top * rest.top, bottom: bottom * rest.bottom });
}

/**
 * The worst ratio for a feature inside a joint table, beside questions of ratio `factor`, over all priors within `q`.
 *
 * Two values that are coded alike may still differ in what they say of the others: numbers are rounded, and `missing`
 * stands for no value. Doubles, in the order in which the planner computes them, with a margin far above their error.
 */
function jointRatio(plan, number, name, factor, q) {
  const { features, levels, table: index } = plan.questions[number];
  const table = plan.tables[index];
  checkCells(`tables.${index}`, table.levels, table.symbols);
  if (factor === Infinity) return INFINITE;
  const { type, missing } = plan.features.get(name);
  const shared = type === "numeric" || missing !== null;
  const position = features.indexOf(name);
  const size = levels[position];
  const inner = levels.slice(position + 1).reduce((total, other) => total * other, 1);
  const others = counted(table.levels / size).map((z) => Math.floor(z / inner) * size * inner + (z % inner));
  let worst = 1;
  for (let symbol = 0; symbol < table.symbols; symbol += 1) {
    const f = counted(size).map((own) => others.map((start) => table.weight(start + own * inner, symbol)));
    const top = f.map(most);
    const bottom = f.map(least);
    for (const [high, low] of [[factor, 1], [1, 1 / factor]]) { // prettier-ignore
      for (let z = 0; z < others.length; z += 1) {
        const below = f.map((weights, own) => (1 - q) * weights[z] + q * low * bottom[own]);
        f.forEach((weights, own) => {
          const above = (1 - q) * weights[z] + q * high * top[own];
          const compared = shared ? below : below.filter((_, other) => other !== own);
          if (above > 0) worst = Math.max(worst, above / least(compared));
        });
      }
    }
  }
  return worst > 1 ? exactly(worst * (1 + 1e-13)) : ONE;
}

/**
 * The worst ratio for a feature under one question about another whose laws are known; infinite if they are not.
 *
 * Given any value of the feature the other's law is a mixture of the known ones, so the worst are two of them (4.5).
 * Doubles find the symbols that may be the worst, and these are computed exactly.
 */
function knownRatio(plan, name, question) {
  const table = plan.tables[question.table];
  const [told] = question.features;
  const single = question.features.length === 1 && question.kind !== "product";
  const laws = single ? plan.correlation.laws(name, told) : null;
  if (!laws || table.levels * table.symbols > MOST_CELLS) return INFINITE;
  if (plan.features.get(told).type === "numeric" || laws[0].length !== table.levels) {
    throw refuse(`correlation.laws of ${told}`, laws[0].length, "one share for each value, and no numbers");
  }
  const columns = counted(table.symbols).map((symbol) => counted(table.levels).map((x) => table.weight(x, symbol)));
  const rough = columns.map((column) => {
    const chances = laws.map((law) => law.reduce((sum, share, x) => sum + share * column[x], 0));
    return most(chances) > 0 ? most(chances) / least(chances) : 0; // a symbol that is never given tells nothing
  });
  const worst = most(rough);
  const candidates = columns.filter((_, symbol) => rough[symbol] >= worst * (1 - 1e-6));
  const exact = laws.map((law) => law.map(exactly));
  return candidates.map((column) => spread(exact.map((law) => mean(law, column)))).reduce(larger);
}

/** The mean of whole numbers under a law, exactly; the law need not quite sum to 1. */
function mean(law, numbers) {
  const unit = law.reduce((unit, { bottom }) => (bottom > unit ? bottom : unit), 1n); // all are powers of 2
  const shares = law.map(({ top, bottom }) => top * (unit / bottom));
  const sum = (terms) => terms.reduce((total, term) => total + term, 0n);
  return { top: sum(shares.map((share, x) => share * BigInt(numbers[x]))), bottom: sum(shares) };
}

/** The largest over the smallest of some numbers that are not all 0. */
function spread(numbers) {
  const [high, low] = [numbers.reduce(larger), numbers.reduce(smaller)];
  return { top: high.top * low.bottom, bottom: high.bottom * low.top };
}

/**
 * The true levels of a plan, if every promise is kept; an `InputError` if one is not, or is above a person's limits.
 *
 * Limits are in nats: `maxEpsilon` for the whole report, `maxDelta` for each single feature.
 */
export function verifyPlan(plan, { maxEpsilon = Infinity, maxDelta = Infinity } = {}) {
  const levels = certify(plan);
  keep("epsilon", levels.epsilon, plan.certificate.epsilon, plan.epsilon, maxEpsilon);
  for (const [name, { asked, certified, c }] of plan.certificate.features) {
    const { delta } = plan.features.get(name);
    if (asked !== delta) throw refuse(`certificate.features.${name}.asked`, asked, `the policy's delta ${delta}`);
    keep(`features.${name}.certified`, levels.delta.get(name), certified, delta, maxDelta);
    keep(`features.${name}.c`, levels.c.get(name), c, Infinity, Infinity);
  }
  return levels;
}

function keep(path, level, claimed, demanded, limit) {
  if (level > claimed) {
    throw refuse(`certificate.${path}`, claimed, `a true claim, and the tables give ${level}`);
  }
  if (claimed > demanded) throw refuse(`certificate.${path}`, claimed, `at most the ${demanded} that was asked`);
  if (!(claimed <= limit)) throw refuse(`certificate.${path}`, claimed, `at most ${limit}, your own limit`);
}

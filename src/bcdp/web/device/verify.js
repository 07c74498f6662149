/** Whether a plan keeps what it claims, and a person's limits. */
// @ts-nocheck

import { byMenu, certify } from "./certificate.js";
import { refuse } from "./checks.js";
import { exceeded } from "./reading/correlation.js";

/** What a device answers at most if nobody set its limit, in nats: beyond, a guess at 50% could become 98.3%. */
export const MAX_EPSILON = 4;

/**
 * The true levels of a plan, if every promise is kept; an `InputError` if one is not, or is above a person's limits.
 *
 * Limits are in nats: `maxEpsilon` for the whole report, `maxDelta` for each single feature.
 */
export function verifyPlan(plan, { maxEpsilon = MAX_EPSILON, maxDelta = Infinity } = {}) {
  const levels = certify(plan);
  keep("epsilon", levels.epsilon, plan.certificate.epsilon, plan.epsilon, maxEpsilon);
  for (const [name, { asked, certified, c }] of plan.certificate.features) {
    const { delta } = plan.features.get(name);
    if (asked !== delta) throw refuse(`certificate.features.${name}.asked`, asked, `the policy's delta ${delta}`);
    keep(`features.${name}.certified`, levels.delta.get(name), certified, delta, maxDelta);
    keep(`features.${name}.c`, levels.c.get(name), c, Infinity, Infinity);
  }
  for (const [name, level] of levelsIfWrong(plan)) {
    const { asked } = plan.features.get(name).ifWrong;
    keep(`features.${name}.if_wrong`, level, plan.certificate.features.get(name).if_wrong, asked, Infinity);
  }
  plan.blocks?.keep(plan, levels, keep, maxDelta);
  plan.counts?.check(plan, levels, byMenu(plan).bounds);
  return levels;
}

/**
 * The levels of the features with a second demand, at its multiple of q and odds - 1, by their names.
 * @type {(plan: any) => [string, number][]}
 */
export function levelsIfWrong(plan) {
  const names = [...plan.features].flatMap(([name, { ifWrong }]) => (ifWrong ? [name] : []));
  if (!names.length) return [];
  const { delta } = certify({ ...plan, correlation: exceeded(plan.correlation, plan.features) });
  return names.map((name) => [name, delta.get(name)]);
}

function keep(path, level, claimed, demanded, limit) {
  if (level > claimed) {
    throw refuse(`certificate.${path}`, claimed, `a true claim, and the tables give ${level}`);
  }
  if (claimed > demanded) throw refuse(`certificate.${path}`, claimed, `at most the ${demanded} that was asked`);
  const changed = "your own limit (maxEpsilon and maxDelta change it)";
  if (!(claimed <= limit)) throw refuse(`certificate.${path}`, claimed, `at most ${limit}, ${changed}`);
}

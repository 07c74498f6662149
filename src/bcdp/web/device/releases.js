/** What answering a plan costs, as a row of a ledger: a module of its own, as a ledger needs no certificate. */

import { byMenu, certify } from "./certificate.js";
import { InputError } from "./checks.js";
import { largest } from "./ledger.js";
import { linkedMenus } from "./reading/questions.js";

/** @typedef {import("./reading/plan.js").Plan} Plan */
/** @typedef {import("./ledger.js").Release} Release */
/** @typedef {import("./ledger.js").Pair} Pair */

/**
 * A row of a ledger, plain data: what answering a plan costs, or the answers to the `menu` that was drawn.
 *
 * `menus` has, of each feature, pairs of c and epsilon that one menu has, the largest.
 * @type {(plan: Plan, menu?: number) => Release}
 */
export function releaseOf(plan, menu) {
  const names = [...plan.features.keys()];
  const levels = byMenu(plan);
  const menus = linkedMenus(plan.menus);
  const open = [...plan.open.keys()];
  /**
   * @template T
   * @param {(name: string) => T} level
   * @returns {Record<string, T>}
   */
  const each = (level) => Object.fromEntries(names.map((name) => [name, level(name)]));
  if (menu !== undefined) {
    if (!menus[menu]) throw new InputError(`menu: got ${menu}; accepted: the number of one of the plan's menus`);
    const c = each((name) => levels.own(menu, name));
    return { plan: plan.id, epsilon: levels.whole(menu), c, delta: each((name) => levels.level(menu, name)), open };
  }
  const { epsilon, c, delta } = certify(plan);
  /** @type {(name: string) => Pair[]} */
  const pairs = (name) => largest(menus.map((_, number) => [levels.own(number, name), levels.whole(number)]));
  return {
    plan: plan.id,
    epsilon,
    c: Object.fromEntries(c),
    delta: Object.fromEntries(delta),
    menus: each(pairs),
    open,
  };
}

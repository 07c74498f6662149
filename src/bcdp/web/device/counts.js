/**
 * The main promise of a plan that trusts more than devices: what the counts of a batch reveal (theory.md, 4.8, 4.15).
 *
 * A claim is checked at its own factor, in doubles, everything rounded up. Two numbers of what one report adds to the
 * counts are enough (Theorem 11): its second moment under the blanket, and its largest value. Loaded where a plan needs it.
 */

import { binaryExcess, keptBit } from "./binary_counts.js";
import { ofFeature, together } from "./message_counts.js";
import {
  endsOf,
  featureMoment,
  massMoved,
  overlapsOf,
  questionsOf,
  recordMoment,
  remembered,
  viewsOf,
} from "./moments.js";
import { TOTAL, entries, keys, refuse, whole } from "./checks.js";

/** @typedef {import("./reading/plan.js").Plan} Plan */
/** @typedef {import("./moments.js").Two} Two */
/** @typedef {{ epsilon: number, odds: number }} Claim */
/** @typedef {import("./moments.js").Within} Within */
/** @typedef {{ epsilon: number, c: Map<string, number>, delta: Map<string, number>, separate: boolean }} Levels of messages that are `separate`, all of them together */
/**
 * `people` are the honest ones among those in a batch; `claims` are levels in nats.
 * @typedef {{ trust: "relay" | "collector", batch: number, people: number, chance: number, asked: Partial<Claim>,
 *   askedOf: ReadonlyMap<string, number>, claims: Claim & { features: ReadonlyMap<string, Claim> },
 *   check: (plan: Plan, levels: Levels, bounds: (number: number, name: string) => Within) => void }} Counts
 */
/** @typedef {import("./moments.js").Moment} Moment */

const LEAST_PEOPLE = 1000;
const MOST_STATED = 10 ** 10;
const MOST_PEOPLE = 10 ** 8; // more count as so many
const LARGEST_EPSILON = 20;
const LARGEST_ODDS = 1e8;
const ABOVE = 1 + 1e-7; // the rounding of a sum of positive terms, and of its first
/** @type {("epsilon" | "odds")[]} */
const FORMS = ["epsilon", "odds"];

/**
 * What a plan states of the counts of a batch, its form checked.
 * @type {(collection: any, claims: any, features: Plan["features"]) => Counts}
 */
export function readCounts({ trust, counts, relay }, claims, features) {
  if (!["relay", "collector"].includes(trust) || (trust === "relay" && (relay ?? null) === null)) {
    throw refuse("collection.trust", trust, "relay, where there is one, or collector");
  }
  return { trust, ...readDemand("collection.counts", counts, features), claims: readClaims(claims, features), check };
}

/** @type {(path: string, counts: any, features: Plan["features"]) => Omit<Counts, "trust" | "claims" | "check">} */
function readDemand(path, counts, features) {
  keys(path, counts, ["people"], ["epsilon", "odds", "features", "chance", "honest"]);
  const { epsilon = null, odds = null, features: single = {}, chance = 1e-6, honest = 1 } = counts;
  const batch = whole(`${path}.people`, counts.people, LEAST_PEOPLE, MOST_STATED);
  const people = shareOf(batch, between(`${path}.honest`, honest, 0, 1));
  if (between(`${path}.chance`, chance, 0, 1) < 1e-15 || chance === 1 || people < 1) {
    throw refuse(path, [chance, honest], "a chance from 1e-15 to below 1, and at least one honest person");
  }
  /** @type {Partial<Claim>} */
  const asked = {};
  if (epsilon !== null) asked.epsilon = between(`${path}.epsilon`, epsilon, 0, LARGEST_EPSILON);
  if (odds !== null) asked.odds = Math.log(between(`${path}.odds`, odds, 1, LARGEST_ODDS));
  const askedOf = new Map(entries(`${path}.features`, single));
  for (const [name, own] of askedOf) {
    if (!features.has(name)) throw refuse(`${path}.features`, name, "features that are protected");
    between(`${path}.features.${name}`, own, 0, LARGEST_EPSILON);
  }
  if (!Object.keys(asked).length && !askedOf.size) throw refuse(path, counts, "epsilon, odds or features");
  return { batch, people, chance, asked, askedOf };
}

/** @type {(claims: any, features: Plan["features"]) => Counts["claims"]} */
function readClaims(claims, features) {
  const path = "certificate.counts";
  keys(path, claims, [...FORMS, "features"]);
  keys(`${path}.features`, claims.features, [...features.keys()]);
  for (const [name, claim] of Object.entries(claims.features)) keys(`${path}.features.${name}`, claim, FORMS);
  for (const claim of [claims, ...Object.values(claims.features)]) {
    for (const form of FORMS) between(path, claim[form], -Number.MIN_VALUE, Infinity);
  }
  const { epsilon, odds } = claims;
  return { epsilon, odds, features: new Map([...features.keys()].map((name) => [name, claims.features[name]])) };
}

/** @type {(path: string, value: any, above: number, most: number) => number} */
function between(path, value, above, most) {
  if (!(Number.isFinite(value) && value > above && value <= most)) {
    throw refuse(path, value, `a number above ${above} and at most ${most}`);
  }
  return value;
}

/**
 * A share of some people, rounded down: the share is the decimal number that is written.
 * @type {(people: number, share: number) => number}
 */
function shareOf(people, share) {
  const [digits, power] = share.toExponential().split("e");
  const [head, tail = ""] = digits.split(".");
  return Number((BigInt(people) * BigInt(head + tail)) / 10n ** BigInt(tail.length - Number(power)));
}

/**
 * Refuses claims that are not proved, or above what was asked. What holds for one report holds for counts, and what holds
 * for the record holds for a feature.
 * @this {Counts}
 * @param {Plan} plan
 * @param {Levels} levels
 * @param {(number: number, name: string) => Within} bounds by menu and feature
 */
function check(plan, levels, bounds) {
  if (levels.separate) return checkMessages(this, plan, levels, bounds);
  const { claims } = this;
  const weights = plan.menus.map(({ weight }) => weight / TOTAL);
  const overlaps = remembered(overlapsOf);
  const tables = { overlaps, ends: remembered(endsOf(overlaps)) };
  const whole = { epsilon: levels.epsilon, delta: levels.epsilon, keep: keptBit(plan) };
  const record = { moment: recordMoment(plan, weights, tables.ends), ...whole };
  checkAsked(this);
  for (const form of FORMS) {
    keep(this, record, form, claims[form], form);
    for (const [name, claim] of claims.features) {
      const delta = /** @type {number} */ (levels.delta.get(name));
      if (claim[form] >= Math.min(claims[form], delta)) continue;
      const views = plan.menus.map((_, number) => viewsOf(plan, number, name, bounds(number, name), tables));
      const bound = { moment: featureMoment(weights, views), epsilon: levels.epsilon, delta, keep: 0 };
      keep(this, bound, form, claim[form], `features.${name}.${form}`);
    }
  }
}

/**
 * Refuses claims above what was asked.
 * @type {(counts: Counts) => void}
 */
function checkAsked({ claims, asked, askedOf }) {
  /** @type {[string, number, number | undefined][]} */
  const limits = FORMS.map((form) => [form, claims[form], asked[form]]);
  for (const [name, { epsilon }] of claims.features) {
    limits.push([`features.${name}.epsilon`, epsilon, askedOf.get(name)]);
  }
  for (const [path, claim, limit] of limits) {
    if (limit !== undefined && claim > limit) {
      throw refuse(`certificate.counts.${path}`, claim, `at most the ${limit} that was asked`);
    }
  }
}

/**
 * The same for several messages of one person: what each reveals, what all do together, and by association.
 * @type {(counts: Counts, plan: Plan, levels: Levels, bounds: (number: number, name: string) => Within) => void}
 */
function checkMessages(counts, plan, levels, bounds) {
  const { claims, people, chance } = counts;
  checkAsked(counts);
  /** @type {Map<string, (factor: number) => number>} */
  const known = new Map();
  const single = plan.menus.map((menu) => {
    const key = menu.questions.map((number) => plan.questions[number].table).join();
    if (!known.has(key)) known.set(key, messageExcess({ ...plan, menus: [menu] }, people));
    return /** @type {(factor: number) => number} */ (known.get(key));
  });
  const record = together(single);
  for (const form of FORMS) {
    const whole = factorOf(claims[form]);
    if (claims[form] < levels.epsilon && !keptBy(record, form, claims[form], chance)) throw untrue(form, claims[form]);
    for (const [name, claim] of claims.features) {
      const delta = /** @type {number} */ (levels.delta.get(name));
      if (claim[form] >= Math.min(claims[form], delta)) continue;
      const number = plan.menus.findIndex((_, index) =>
        questionsOf(plan, index).some((q) => q.features.includes(name)),
      );
      const excessAt = ofFeature(single[number] ?? null, record, whole, massMoved(bounds(0, name)));
      if (!keptBy(excessAt, form, claim[form], chance)) throw untrue(`features.${name}.${form}`, claim[form]);
    }
  }
}

/**
 * How far the chance of an event of one message's counts may be above a factor times that under another record.
 * @type {(plan: Plan, people: number) => (factor: number) => number}
 */
function messageExcess(plan, people) {
  const ends = endsOf(remembered(overlapsOf));
  const tables = questionsOf(plan, 0).map(({ table }) => plan.tables[table].ratio);
  const level = tables.reduce((sum, { top, bottom }) => sum + Math.log(Number(top) / Number(bottom)) + 1e-12, 0);
  const bound = { moment: recordMoment(plan, [1], ends), epsilon: level, delta: level, keep: keptBit(plan) };
  return (factor) => {
    const first = excess(bound, factor, people);
    return bound.keep > 0 ? Math.min(first, binaryExcess(factor, bound.keep, people)) : first;
  };
}

/** @type {(counts: Counts, bound: Bound, form: "epsilon" | "odds", claim: number, path: string) => void} */
function keep({ people, chance }, bound, form, claim, path) {
  if (claim >= bound.delta || proves(bound, form, claim, people, chance)) return;
  throw untrue(path, claim);
}

/** @type {(path: string, claim: number) => Error} */
const untrue = (path, claim) => refuse(`certificate.counts.${path}`, claim, "a true claim, and counts may reveal more");

/** @type {(level: number) => number} */
const factorOf = (level) => Math.max(1, Math.exp(level) * (1 - 1e-15));

/**
 * With the levels of one report; `keep` is the chance that one binary answer, all that is asked, is kept, else 0.
 * @typedef {{ moment: Moment, epsilon: number, delta: number, keep: number }} Bound
 */

/** @type {(bound: Bound, form: "epsilon" | "odds", level: number, people: number, chance: number) => boolean} */
function proves(bound, form, level, people, chance) {
  const [factor, allowed] = neededFor(form, level, chance);
  return exceedsAtMost(allowed, bound, factor, people);
}

/** @type {(excessAt: (factor: number) => number, form: "epsilon" | "odds", level: number, chance: number) => boolean} */
function keptBy(excessAt, form, level, chance) {
  const [factor, allowed] = neededFor(form, level, chance);
  return excessAt(factor) <= allowed;
}

/**
 * What proves a level: a factor, and the excess that is allowed there.
 * @type {(form: "epsilon" | "odds", level: number, chance: number) => Two}
 */
function neededFor(form, level, chance) {
  const factor = factorOf(level);
  if (form === "epsilon") return [factor, chance];
  const twice = -2 * Math.log(chance);
  const square = Math.max(1, twice - Math.log(2 * Math.PI * twice));
  const smaller = 1 + (factor - 1) * (1 - 1 / (square + 1));
  return [smaller, chance * (1 - smaller / factor)];
}

/** @type {(allowed: number, bound: Bound, factor: number, people: number) => boolean} */
const exceedsAtMost = (allowed, bound, factor, people) =>
  excess(bound, factor, people) <= allowed || (bound.keep > 0 && binaryExcess(factor, bound.keep, people) <= allowed);

/**
 * Theorem 11: how far the chance of an event may be above `factor` times that under another record.
 * @type {(bound: Bound, factor: number, people: number) => number}
 */
function excess({ moment, epsilon, delta }, factor, people) {
  const [record, own] = [Math.exp(epsilon), Math.exp(delta)];
  const largest = Math.min(record - factor, (own - factor) * record) + 1e-12 * record;
  const second = moment(factor);
  if (largest <= 0) return 0;
  if (!Number.isFinite(second) || !Number.isFinite(largest)) return 1;
  const [n, drift] = [Math.min(people, MOST_PEOPLE), factor - 1];
  const reach = largest + drift;
  const variance = Math.max(second - drift * drift, 1e-30 * reach * reach);
  const [share, step] = [variance / (reach * reach + variance), (reach * reach + variance) / reach];
  const [beyond, spread] = [(n * drift) / step, Math.sqrt(n * share * (1 - share))];
  const h = beyond ? spread * Math.min(1, spread / beyond) : spread;
  return Math.min(1, ((squareAbove(n, share, n * share + beyond - h) * step) / (4 * n * h)) * ABOVE);
}

/**
 * The mean of `(B - start)^2` where `B > start`, B being binomial: term by term, each from the one before.
 * @type {(n: number, share: number, start: number) => number}
 */
function squareAbove(n, share, start) {
  const lowest = Math.max(0, Math.floor(start) + 1);
  if (lowest > n) return 0;
  const first = binomial(n, lowest, share);
  let total = 0;
  for (let [k, weight] = [lowest, 1]; k <= n; k += 1) {
    const term = weight * (k - start) ** 2;
    total += term;
    const following = (((n - k) / (k + 1)) * share) / (1 - share);
    const ratio = following * ((k + 1 - start) / (k - start)) ** 2; // falls
    const rest = (term * ratio) / (1 - ratio);
    if (ratio < 0.999 && rest <= 1e-10 * total) return first * (total + rest);
    weight *= following;
  }
  return first * total;
}

/**
 * At least the chance of k: Stirling's formula with Robbins' bounds.
 * @type {(n: number, k: number, share: number) => number}
 */
function binomial(n, k, share) {
  if (k === 0 || k === n) return Math.exp(n * (k === 0 ? Math.log1p(-share) : Math.log(share)));
  const apart = k / n - share;
  const far = (k / n) * Math.log1p(apart / share) + (1 - k / n) * Math.log1p(-apart / (1 - share));
  const corrections = 1 / (12 * n) - 1 / (12 * k + 1) - 1 / (12 * (n - k) + 1);
  return Math.sqrt(n / (2 * Math.PI * k * (n - k))) * Math.exp(corrections - n * far);
}

/**
 * Blocks: features that depend on each other, because one is asked only if others have certain values; loaded with the
 * plans that have some. Nothing is assumed of what goes together inside a block (theory.md, section 4.17).
 */

import { InputError, counted, entries, keys, level, refuse } from "../checks.js";
import { INFINITE, ONE, larger } from "../exact.js";
import { NONE, readList, tickedCode } from "./lists.js";

/** @typedef {import("./features.js").Feature} Feature */
/** @typedef {import("./features.js").Listed} Listed */
/** @typedef {import("./lists.js").List} List */
/** @typedef {import("./features.js").Named<Feature>} Features */
/** @typedef {import("./questions.js").Question} Question */
/** @typedef {import("./randomizers.js").Table} Table */
/** @typedef {{ top: bigint, bottom: bigint }} Ratio */
/** @typedef {import("./plan.js").Claim} Claim */
/** @typedef {Pick<import("./questions.js").Parts, "tables">} Tables */
/** @typedef {{ name: string, item: string, number: number, delta: number }} Item of a list, with a delta of its own */
/** @typedef {Map<string, number>} Codes */
/** @typedef {{ parts: number[], shared: Set<number> }} View the value of a feature at each input, and which values are shared */
/**
 * @typedef {{ rest: Ratio, within: { q: number, odds: number }, ranged: boolean, item?: number, independent: any,
 *   worstRatio: any }} Seen with which other questions and bounds, whether guesses are between ranges, and of which item
 */
/**
 * @typedef {{
 *   order: [string, Feature][], members: (name: string) => readonly string[],
 *   notAsked: (name: string, codes: Codes, given: unknown) => number | null,
 *   code: (name: string, codes: Codes, given: unknown) => number | null,
 *   inputs: (path: string, question: Question) => number | null,
 *   digits: (question: Question, input: number) => number[] | null,
 *   input: (question: Question, digits: number) => number,
 *   ratio: (plan: Tables, question: Question, name: string, from: Seen) => Ratio,
 *   ticked: (name: string, value: unknown) => number, items: Item[],
 *   levels: (menus: any[], asked: any, outside: (name: string) => Ratio, log: (ratio: Ratio) => number) => number[][] | null,
 *   keep: (plan: any, levels: any, keep: (path: string, ...numbers: number[]) => void, most: number) => void,
 * }} Blocks
 */

const MOST_DIGITS = 2 ** 20; // of all answers in a block, combined in any way
const NOT_APPLICABLE = "not applicable";

/**
 * All that is to know of the blocks of a plan: in which `order` features are coded, which `members` the block of a feature
 * has, the code of a follow-up that is `notAsked`, how many `inputs` a question about a block has and which `input` digits
 * are, and the `ratio` of what its answer tells of one feature, or one item of a list. Of lists to tick, how a value is
 * `ticked`, the `items` with a delta of their own, and the `claims` about them.
 * @type {(features: Features) => Blocks}
 */
export function readBlocks(features) {
  const lists = new Map(
    [...features]
      .filter(([, { type }]) => type === "multiple")
      .map(([name, feature]) => [name, readList(name, /** @type {Listed} */ (feature))]),
  );
  const items = [...lists].flatMap(([name, { items: own }]) =>
    own.map(([item, number, delta]) => ({ name, item, number, delta })),
  );
  const conditions = new Map(
    [...features]
      .filter(([, { askedIf }]) => askedIf !== null)
      .map(([name, feature]) => [name, conditionOf(features, lists, name, feature)]),
  );
  /** @type {(name: string) => [string, Set<number>][]} */
  const needs = (name) => conditions.get(name) ?? [];
  const order = parentsFirst([...features.keys()], needs);
  const members = membersOf([...features.keys()], needs);
  /** @type {Map<string, { ranks: Map<number, number>, digits: number[][] }>} */
  const known = new Map();
  /** @type {(question: Question) => { ranks: Map<number, number>, digits: number[][] }} */
  const possible = ({ features: names, levels }) => {
    const key = JSON.stringify([names, levels]);
    const found = known.get(key) ?? combinations(names, levels, needs);
    known.set(key, found);
    return found;
  };
  /** @type {Blocks["ratio"]} */
  const ratio = ({ tables }, question, name, { rest, within, ranged, item, independent, worstRatio }) => {
    const table = tables[question.table];
    const view = viewOf(question, name, item);
    const outside = question.features.flatMap((other, place) => (inBlock(name).includes(other) ? [] : [place]));
    if (!outside.length) return independent(viewRatio(table, view.parts, view.shared), rest, within);
    const { parts, shared } = ranged ? anyNumber(view) : view;
    /** @type {Map<string, number[]>} the inputs by what is asked outside, those of the block in one order */
    const places = new Map();
    possible(question).digits.forEach((digits, input) => {
      const key = String(outside.map((place) => digits[place]));
      places.set(key, [...(places.get(key) ?? []), input]);
    });
    const [first] = places.values();
    const values = [...new Set(parts)];
    const points = values.map((value) =>
      counted(first.length).flatMap((own) => (parts[first[own]] === value ? [[own, 0]] : [])),
    );
    const pairs = values.flatMap((one, a) => values.flatMap((_, b) => (a !== b || shared.has(one) ? [[a, b]] : [])));
    const symbols = counted(table.symbols).map((symbol) =>
      [...places.values()].map((inputs) => inputs.map((input) => table.weight(input, symbol))),
    );
    return worstRatio(symbols, points, pairs, { rest, within });
  };
  /** @type {(name: string) => readonly string[]} */
  const inBlock = (name) => members.get(name) ?? [name];
  /** @type {(question: Question, name: string, item?: number) => View} */
  const viewOf = (question, name, item) => {
    const place = question.features.indexOf(name);
    const single = question.features.length === 1;
    const codes = single ? counted(question.levels[0]) : possible(question).digits.map((digits) => digits[place]);
    if (item === undefined) return { parts: codes, shared: sharedBy(features.get(name), question.levels[place]) };
    const { sets } = /** @type {List} */ (lists.get(name));
    /** @type {(code: number) => number} */
    const part = (code) => (code < sets.length ? Number(sets[code].includes(item)) : code + 2);
    return { parts: codes.map(part), shared: new Set() };
  };
  /** @type {Blocks["notAsked"]} */
  const notAsked = (name, codes, given) => {
    if (needs(name).every(([parent, asked]) => asked.has(/** @type {number} */ (codes.get(parent))))) return null;
    if (![undefined, null, "", NOT_APPLICABLE].includes(/** @type {any} */ (given)) && !Number.isNaN(given)) {
      throw new InputError(`${name}: got a value; accepted: none, as the question is not asked`);
    }
    const feature = features.get(name);
    return feature.type === "numeric" ? 1 + feature.extras : feature.inputs - 1;
  };
  /** @type {Blocks["ticked"]} */
  const ticked = (name, value) =>
    tickedCode(name, /** @type {Listed} */ (features.get(name)), /** @type {List} */ (lists.get(name)), value);
  return {
    order: order.map((name) => [name, features.get(name)]),
    members: inBlock,
    notAsked,
    code: (name, codes, given) => notAsked(name, codes, given) ?? (lists.has(name) ? ticked(name, given) : null),
    items,
    ticked,
    levels: (menus, asked, outside, log) => {
      if (!items.length) return null;
      return items.map(({ name, number }) => {
        const asking = menus.filter((menu) => menu.place.has(name));
        const c = asking.map((menu) => asked(menu, name, { q: 0, odds: Infinity }, "value", number));
        const delta = asking.map((menu) => asked(menu, name, undefined, "value", number));
        return [c.reduce(larger, ONE), delta.reduce(larger, outside(name))].map(log);
      });
    },
    keep: (plan, levels, keep, most) => {
      const claims = [...lists.keys()].flatMap((name) =>
        claimsOf(items, name, plan.certificate.features.get(name).items),
      );
      claims.forEach(([{ name, item, delta }, claim], place) => {
        const [path, [c, proved]] = [`features.${name}.items.${item}`, levels.items[place]];
        if (claim.asked !== delta)
          throw refuse(`certificate.${path}.asked`, claim.asked, `the policy's delta ${delta}`);
        keep(`${path}.certified`, proved, claim.certified, delta, most);
        keep(`${path}.c`, c, claim.c, Infinity, Infinity);
      });
    },
    inputs: (path, question) => {
      const { features: names, levels } = question;
      if (question.kind !== "block") {
        if (names.some((name) => members.has(name)) || (names.length > 1 && names.some((name) => lists.has(name)))) {
          throw refuse(`${path}.features`, names, "kind block for features that depend on each other, and lists alone");
        }
        return null;
      }
      const linked = names.filter((name) => members.has(name));
      const listed = names.length > 1 && names.some((name) => lists.has(name));
      if (
        !(linked.length || listed) ||
        !linked.every((name) => inBlock(name).every((other) => names.includes(other)))
      ) {
        throw refuse(
          `${path}.features`,
          names,
          "all features that depend on each other, or a list, perhaps with others",
        );
      }
      if (levels.reduce((total, size) => total * size, 1) > MOST_DIGITS) {
        throw refuse(`${path}.levels`, levels, `at most ${MOST_DIGITS} combinations`);
      }
      return possible(question).digits.length;
    },
    digits: (question, input) => (question.kind === "block" ? possible(question).digits[input] : null),
    input: (question, digits) => /** @type {number} */ (possible(question).ranks.get(digits)),
    ratio,
  };
}

/**
 * The claims about items of a list that have a delta of their own, one for each.
 * @type {(items: readonly Item[], name: string, stated?: any) => [Item, Claim][]}
 */
function claimsOf(items, name, stated) {
  const path = `certificate.features.${name}.items`;
  const parts = ["asked", "certified", "c"];
  const own = items.filter((item) => item.name === name);
  if (stated !== undefined && !own.length)
    throw refuse(path, stated, "no such key where no item has a delta of its own");
  keys(path, stated ?? {}, own.map(({ item }) => item)); // prettier-ignore
  return own.map((item) => {
    keys(`${path}.${item.item}`, stated[item.item], parts);
    for (const key of parts) level(`${path}.${item.item}.${key}`, stated[item.item][key]);
    return [item, stated[item.item]];
  });
}

/**
 * The features that a follow-up depends on, each with the numbers of the values with which it is asked.
 * @type {(features: Features, lists: Map<string, List>, name: string, feature: Feature) => [string, Set<number>][]}
 */
function conditionOf(features, lists, name, { askedIf, values }) {
  const path = `features.${name}.asked_if`;
  const stated = entries(path, askedIf);
  if (!stated.length || values?.includes(NOT_APPLICABLE)) {
    throw refuse(path, askedIf, `at least one feature, and no value called ${NOT_APPLICABLE}`);
  }
  return stated.map(([parent, asked]) => {
    const own = features.has(parent) && parent !== name ? features.get(parent) : null;
    if (!own?.values) throw refuse(path, parent, "another protected feature with values");
    const listed = Array.isArray(asked) ? asked : [asked];
    const none = lists.has(parent) ? own.values.length : -1; // nothing ticked
    const numbers = listed.map((value) => (value === NONE && !own.values.includes(NONE) ? none : numberOf(own, value)));
    if (!listed.length || numbers.includes(-1) || new Set(numbers).size < numbers.length) {
      throw refuse(`${path}.${parent}`, asked, "different values of that feature");
    }
    const sets = lists.get(parent)?.sets;
    if (!sets) return [parent, new Set(numbers)];
    /** @type {(ticked: number[]) => boolean} */
    const fits = (ticked) => numbers.some((number) => (number === none ? !ticked.length : ticked.includes(number)));
    return [parent, new Set(counted(sets.length).filter((code) => fits(sets[code])))];
  });
}

/** @type {(feature: import("./features.js").Listed, value: unknown) => number} */
function numberOf({ values, plain }, value) {
  if (plain && typeof value === "boolean") return Number(value);
  return values.findIndex((known) => known === value);
}

/** @type {(names: string[], needs: (name: string) => [string, Set<number>][]) => string[]} */
function parentsFirst(names, needs) {
  /** @type {string[]} */
  const order = [];
  for (let left = names; left.length;) {
    const ready = left.filter((name) => needs(name).every(([parent]) => order.includes(parent)));
    if (!ready.length) throw refuse("collection.features", left, "follow-ups that do not depend on themselves");
    order.push(...ready);
    left = left.filter((name) => !ready.includes(name));
  }
  return order;
}

/**
 * The features of each block, by each of them.
 * @type {(names: string[], needs: (name: string) => [string, Set<number>][]) => Map<string, string[]>}
 */
function membersOf(names, needs) {
  const group = new Map(names.map((name) => [name, [name]]));
  for (const name of names) {
    for (const [parent] of needs(name)) {
      const both = [...new Set([...(group.get(name) ?? []), ...(group.get(parent) ?? [])])];
      for (const member of both) group.set(member, both);
    }
  }
  return new Map([...group].filter(([, block]) => block.length > 1));
}

/**
 * The digits that can occur together, in rising order, and the place of each combination among them.
 * @type {(names: readonly string[], levels: readonly number[], needs: (name: string) => [string, Set<number>][]) =>
 *   { ranks: Map<number, number>, digits: number[][] }}
 */
function combinations(names, levels, needs) {
  const total = levels.reduce((product, size) => product * size, 1);
  /** @type {Map<number, number>} */
  const ranks = new Map();
  /** @type {number[][]} */
  const found = [];
  for (const number of counted(total)) {
    let rest = number;
    const digits = levels.map(() => 0);
    for (let place = levels.length - 1; place >= 0; place -= 1) {
      digits[place] = rest % levels[place];
      rest = Math.floor(rest / levels[place]);
    }
    const fits = names.every((name, place) => {
      const condition = needs(name);
      if (!condition.length) return true;
      const asked = condition.every(([parent, values]) => values.has(digits[names.indexOf(parent)]));
      return asked === digits[place] < levels[place] - 1;
    });
    if (fits) {
      ranks.set(number, found.length);
      found.push(digits);
    }
  }
  return { ranks, digits: found };
}

/**
 * The view that does not tell numbers apart: in a range of them each may go with something else outside.
 * @type {(view: View) => View}
 */
const anyNumber = ({ parts, shared }) => ({
  parts: parts.map((part) => (shared.has(part) ? -1 : part)),
  shared: new Set([-1]),
});

/**
 * The digits that two different values may have: those of a number, and what no answer counts as.
 * @type {(feature: Feature, size: number) => Set<number>}
 */
function sharedBy(feature, size) {
  if (feature.type === "numeric") return new Set(counted(size - feature.extras));
  return new Set(feature.missing === null || feature.own ? [] : [/** @type {number} */ (feature.imputed)]);
}

/**
 * The largest weight of one part over the smallest of another, whatever goes with it inside; two values of a shared part
 * may each go with anything.
 * @type {(table: Table, parts: number[], shared: Set<number>) => Ratio}
 */
function viewRatio(table, parts, shared) {
  const values = [...new Set(parts)];
  let worst = ONE;
  for (const symbol of counted(table.symbols)) {
    const weights = new Map(values.map((value) => [value, /** @type {[number, number]} */ ([0, Infinity])]));
    parts.forEach((value, input) => {
      const [most, least] = /** @type {[number, number]} */ (weights.get(value));
      const weight = table.weight(input, symbol);
      weights.set(value, [Math.max(most, weight), Math.min(least, weight)]);
    });
    for (const [one, [most]] of weights) {
      for (const [other, [, least]] of weights) {
        if ((one === other && !shared.has(one)) || most === 0) continue;
        if (least === 0) return INFINITE;
        worst = larger(worst, { top: BigInt(most), bottom: BigInt(least) });
      }
    }
  }
  return worst;
}

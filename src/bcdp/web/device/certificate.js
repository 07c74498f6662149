/** The certificate: every level recomputed from the integer tables (theory.md, section 4). */
// @ts-nocheck

import { MOST_CELLS, counted, least, most } from "./checks.js";
import { numberCode, stepOf } from "./reading/features.js";
import { linkedMenus } from "./reading/questions.js";
import { INFINITE, ONE, exactly, inUnits, larger, logUp, nearest, product, smaller, times, total } from "./exact.js";

const NEARLY = 1 - 1e-6; // of the largest double: whatever is larger in truth is among these, and is computed exactly

const ALONE = { q: 0, odds: Infinity }; // with the others held fixed, BCDP is CDP
const UNITS = 2 ** 29; // in a step between inputs: ends of parts are moved to whole ones, past whatever devices round

/**
 * The true levels in nats, rounded up: `epsilon` of the whole report, and Maps `c` and `delta` of each feature.
 *
 * The menu is drawn without looking at the record, so every level is the largest over the menus.
 */
export function certify(plan) {
  const names = [...plan.features.keys()];
  const menus = linkedMenus(plan.menus)
    .map((menu) => readMenu(plan, menu))
    .sort(byFallingRatio);
  const { asked, unasked } = ratiosOf(plan);
  const c = new Map(names.map((name) => [name, ONE]));
  const delta = new Map(names.map((name) => [name, outside(plan, menus, name, unasked)]));
  for (const menu of menus) {
    for (const name of menu.asked) {
      c.set(name, larger(c.get(name), asked(menu, name, ALONE, "value")));
      delta.set(name, larger(delta.get(name), asked(menu, name)));
    }
  }
  const log = rememberedLog();
  const logs = (ratios) => new Map([...ratios].map(([name, ratio]) => [name, log(ratio)]));
  const items = plan.blocks?.levels(menus, asked, (name) => outside(plan, menus, name, unasked), log);
  return { epsilon: log(menus[0].whole), c: logs(c), delta: logs(delta), items };
}

/**
 * What each menu alone reveals of a feature, by the menu's number and the name: its `level` in nats, rounded up, the
 * `bounds` that it rests on, and its `own` level with all others known; and the level of the `whole` menu.
 */
export function byMenu(plan) {
  const menus = linkedMenus(plan.menus).map((menu) => readMenu(plan, menu));
  const { asked, unasked } = ratiosOf(plan);
  const log = rememberedLog();
  return {
    level: (number, name) => log((menus[number].place.has(name) ? asked : unasked)(menus[number], name)),
    bounds: (number, name) => othersBounds(menus[number], name),
    own: (number, name) => (menus[number].place.has(name) ? log(asked(menus[number], name, ALONE, "value")) : 0),
    whole: (number) => log(menus[number].whole),
  };
}

/** A menu's questions with the ratio of each and of all together, where it asks what, and what is stated of the others. */
function readMenu(plan, menu) {
  const questions = menu.questions.map((number) => plan.questions[number]);
  const ratios = questions.map((question) => plan.tables[question.table].ratio);
  const place = new Map(questions.flatMap(({ features }, number) => features.map((name) => [name, number])));
  const bounds = boundsOf(plan.correlation, plan.features, questions);
  const together = (name) => plan.blocks?.members(name) ?? [name];
  const parts = { questions, ratios, whole: product(ratios), asked: [...place.keys()], place, bounds };
  return { ...parts, together, gains: new Map() };
}

const othersBounds = ({ place, asked, bounds, together }, name) =>
  bounds(name, place.has(name) ? asked.filter((other) => !together(name).includes(other)) : asked);

/** The ratios of what a menu tells of a feature that it has `asked`, and of one `unasked`; what is alike is computed once. */
function ratiosOf(plan) {
  const joint = remembered(jointKey, jointRatio);
  const guessed = (name) => (plan.correlation.ranges.has(name) ? "range" : "value");
  return {
    asked(menu, name, within = othersBounds(menu, name), guess = guessed(name), item = undefined) {
      const number = menu.place.get(name);
      const question = menu.questions[number];
      const rest = product(menu.ratios.filter((_, other) => other !== number));
      if (question.kind === "block" || item !== undefined) {
        const from = { rest, within, ranged: guess === "range", item, independent, worstRatio };
        return plan.blocks.ratio(plan, question, name, from);
      }
      return question.features.length > 1 && question.kind !== "product"
        ? joint(plan, question, name, { rest: within.q > 0 ? rest : ONE, within, guess })
        : independent(menu.ratios[number], rest, within);
    },
    unasked(menu, name) {
      const within = menu.bounds(name, menu.asked);
      const key = `${within.q} ${within.odds}`;
      if (!menu.gains.has(key)) menu.gains.set(key, independent(ONE, menu.whole, within));
      const gain = menu.gains.get(key);
      return menu.questions.length === 1 ? smaller(gain, knownRatio(plan, name, menu.questions[0])) : gain;
    },
  };
}

/** Logarithms, each computed once: a ratio is looked up as the object it is, then by its value. */
const rememberedLog = () =>
  remembered(
    (ratio) => ratio,
    remembered(({ top, bottom }) => `${top}/${bottom}`, logUp),
  );

function byFallingRatio({ whole: a }, { whole: b }) {
  return Number(b.top * a.bottom > a.top * b.bottom) - Number(a.top * b.bottom > b.top * a.bottom);
}

/**
 * What the menus that do not ask a feature tell of it, never more than their own ratio. If the same is stated whatever
 * else they ask, the first of them, by falling ratio, tells most.
 */
function outside(plan, menus, name, unasked) {
  let worst = ONE;
  for (const menu of menus) {
    if (larger(worst, menu.whole) === worst) break;
    if (menu.place.has(name)) continue;
    worst = larger(worst, unasked(menu, name));
    if (plan.correlation.alike) break;
  }
  return worst;
}

/**
 * For a feature and the others that a menu asks, how far what the questions see of them may move with it: `q` and `odds`.
 *
 * A bound about numbers rounded once to 17 levels holds for a question that rounds them to some of these; a product or a
 * square has a bound of its own; of numbers in steps `q` has to know the cuts, and odds never do (theory.md, 4.5).
 */
function boundsOf({ q, odds, productQ, rounded, cuts: known }, declared, questions) {
  const among = (name, levels) => 16 % (levels - 1 - declared.get(name).extras) === 0; // the last may be no answer
  const fits = ({ features, levels, kind, cuts }) =>
    features.every((name, place) => {
      if (!rounded.has(name)) return true;
      const told = cuts?.[place];
      if (told) return told.every((cut) => known.get(name)?.includes(cut));
      return among(name, levels[kind === "product" ? 0 : place]);
    });
  const steps = ({ features, cuts }) => features.some((name, place) => rounded.has(name) && cuts?.[place]);
  const multiplies = ({ features, kind }) => kind === "product" && features.every((name) => rounded.has(name));
  const stated = (name, others) => ({ q: q(name, others), odds: odds(name, others) });
  const apart = (others) => !others.some((other) => rounded.has(other));
  if (questions.every((question) => fits(question) && !multiplies(question))) {
    if (!questions.some(steps)) return stated;
    return (name, others) => ({ q: q(name, others), odds: apart(others) ? odds(name, others) : Infinity });
  }
  if (questions.length === 1 && fits(questions[0])) {
    return (name, others) => ({ q: productQ(name, others), odds: Infinity });
  }
  const unknown = { q: 1, odds: Infinity };
  return (name, others) => (apart(others) ? stated(name, others) : unknown);
}

function remembered(keyOf, compute) {
  const known = new Map();
  return (...given) => {
    const key = keyOf(...given);
    if (!known.has(key)) known.set(key, compute(...given));
    return known.get(key);
  };
}

/** Whether two values may be coded alike: no answer need not be, where it is a value of its own; histories may be. */
const sharesInputs = ({ type, missing, own, repeated = false }) =>
  repeated || type === "numeric" || (missing !== null && !own);

/** All that `jointRatio` depends on: questions about features that are alike in it share their ratio. */
function jointKey(plan, { features, levels, table, cuts: steps }, name, { rest, within, guess }) {
  const { bounds, cuts, missing } = plan.features.get(name);
  const told = guess === "range" ? [bounds, cuts, missing] : sharesInputs(plan.features.get(name));
  const ratio = `${rest.top}/${rest.bottom}`;
  const place = features.indexOf(name);
  return JSON.stringify([table, levels, place, steps?.[place], ratio, within.q, String(within.odds), told]);
}

/**
 * Two laws of the others within q and odds are sums of three parts: of one the first law has odds times as much as the
 * second, of one the second as the first, of one both have the same. The masses of each part in both laws, where they are
 * as large as they can be, in whole numbers (theory.md, section 4).
 */
function massesOf({ q, odds }) {
  const { top, bottom } = exactly(q);
  if (top === 0n || odds === 1) return partsOf(0n, 0n, 1n);
  if (odds === Infinity) return partsOf(top, 0n, bottom - top);
  const { top: high, bottom: low } = exactly(odds);
  const common = bottom * (high - low) - top * (high + low);
  return common > 0n ? partsOf(top * high, top * low, common) : partsOf(high, low, 0n);
}

const partsOf = (most, least, common) => [[most, least], [least, most], [common, common]]; // prettier-ignore

/** What a feature's own question and independent questions about others tell of it: Theorem 8 in whole numbers. */
function independent(own, rest, within) {
  const [[most, least], , [common]] = massesOf(within);
  if (most === 0n) return own;
  const [unit, heard] = [(most + least + common) * rest.bottom, rest.top - rest.bottom];
  return times(own, { top: unit + most * heard, bottom: unit + least * heard });
}

/**
 * The worst ratio for a feature inside a joint table, together with questions of ratio `rest`, over all priors within bounds.
 *
 * Two values that are coded alike may still differ in what they say of the others: numbers are rounded, and `missing`
 * stands for no value, unless it is the last input. A `guess` of a number's "range" counts the most and the least that any
 * number of it may give (Theorem 6). Doubles find the outputs and pairs that may be the worst; these are computed exactly.
 */
function jointRatio(plan, { features, levels, table: index, cuts }, name, { rest, within, guess }) {
  const feature = plan.features.get(name);
  const size = levels[features.indexOf(name)];
  const steps = cuts?.[features.indexOf(name)];
  const ranges = () => (steps ? stepsOf(feature, steps) : rangesOf(feature, size - 1));
  const parts = guess === "range" ? ranges() : counted(size).map((own) => [[own, 0]]);
  const alike = guess === "value" && sharesInputs(feature);
  const pairs = parts.flatMap((_, a) => parts.map((_, b) => [a, b])).filter(([a, b]) => alike || a !== b);
  return worstRatio(columnsOf(plan.tables[index], levels, features.indexOf(name)), parts, pairs, { rest, within });
}

/** The largest ratio between `pairs` of parts, of symbols with `columns` of weights by own input, one for each place of others. */
function worstRatio(symbols, parts, pairs, { rest, within }) {
  const masses = massesOf(within).filter(([one, other]) => one + other > 0n);
  const whole = total(massesOf(within).map(([one]) => one));
  const shares = masses.map((part) => part.map((mass) => nearest({ top: mass, bottom: whole })));
  const low = nearest({ top: rest.bottom, bottom: rest.top });
  let cases = [];
  let worst = 1;
  for (const columns of symbols) {
    const { upper, lower } = extremes(columns, parts, weightAt);
    for (const [a, b] of pairs) {
      const rough = roughRatio(
        upper.map((row) => row[a]),
        lower.map((row) => row[b]),
        worst * NEARLY,
        shares,
        low,
      );
      if (rough === Infinity) return INFINITE;
      worst = Math.max(worst, rough);
      if (rough >= worst * NEARLY) cases.push({ rough, columns, a, b });
    }
    cases = cases.filter(({ rough }) => rough >= worst * NEARLY);
  }
  const exact = new Map(cases.map(({ columns }) => [columns, null]));
  for (const columns of exact.keys()) exact.set(columns, extremes(columns, parts, exactWeightAt));
  return cases.reduce((worst, { columns, a, b }) => {
    const { upper, lower } = exact.get(columns);
    return exactRatio(
      upper.map((row) => row[a]),
      lower.map((row) => row[b]),
      worst,
      masses,
      rest,
    );
  }, ONE);
}

/**
 * For each symbol its weights by the feature's own input, one list for each combination of the others' inputs.
 *
 * Lists that occur twice are left out, and so are symbols that have the lists of another one: nothing depends on them.
 */
function columnsOf(table, levels, position) {
  const size = levels[position];
  const inner = levels.slice(position + 1).reduce((total, other) => total * other, 1);
  const others = counted(table.levels / size).map((z) => Math.floor(z / inner) * size * inner + (z % inner));
  const found = new Map();
  for (let symbol = 0; symbol < table.symbols; symbol += 1) {
    const columns = new Map();
    for (const start of others) {
      const weights = counted(size).map((own) => table.weight(start + own * inner, symbol));
      columns.set(String(weights), weights);
    }
    found.set([...columns.keys()].sort().join(";"), [...columns.values()]);
  }
  return found.values();
}

/** What guesses of a number's range tell apart: its ranges, and where "missing" is coded. */
function rangesOf({ bounds: [low, high], cuts, missing, own }, last) {
  const steps = last - Number(own);
  const share = (number) => (number - low) / (high - low);
  const ends = [0, ...cuts.map(share), 1];
  const ranges = ends.slice(1).map((end, place) => pointsOf(ends[place], end, steps));
  if (own) return [...ranges, [[last, 0]]];
  return missing === null ? ranges : [...ranges, pointsOf(share(missing), share(missing), steps)];
}

/** The same for a number that enters by steps: the inputs that each of its ranges meets. */
function stepsOf(feature, steps) {
  const codes = steps.map((cut) => numberCode(feature, cut));
  const below = (code) => codes.filter((begin) => begin < code).length;
  const ends = feature.cuts.map((cut) => numberCode(feature, cut));
  const first = [0, ...ends.map((end) => stepOf(feature, steps, end))];
  const last = [...ends.map(below), steps.length];
  const ranges = first.map((low, place) => counted(Math.max(0, last[place] - low) + 1).map((more) => [low + more, 0]));
  if (feature.own) return [...ranges, [[steps.length + 1, 0]]];
  if (feature.missing === null) return ranges;
  return [...ranges, [[stepOf(feature, steps, numberCode(feature, feature.missing)), 0]]];
}

/** The ends of a part, given as shares of the bounds, and the inputs inside: each as an input and units beyond it. */
function pointsOf(low, high, steps) {
  const start = Math.max(Math.floor(low * steps * UNITS) - 1, 0);
  const end = Math.min(Math.ceil(high * steps * UNITS) + 1, steps * UNITS);
  const [first, last] = [Math.floor(start / UNITS) + 1, Math.ceil(end / UNITS)];
  const inside = counted(Math.max(0, last - first)).map((number) => (first + number) * UNITS);
  return [start, ...inside, end].map((place) => [Math.floor(place / UNITS), place % UNITS]);
}

/** The weight of a number between two inputs, which is a straight line, in units of weight: a double, or exactly. */
const weightAt = (weights, [input, share]) => (UNITS - share) * weights[input] + share * (weights[input + 1] ?? 0);
const exactWeightAt = (weights, [input, share]) =>
  BigInt(UNITS - share) * BigInt(weights[input]) + BigInt(share) * BigInt(weights[input + 1] ?? 0);

/** The most and the least weight over each part, in each column. */
function extremes(columns, parts, at) {
  const over = (pick) =>
    columns.map((weights) => parts.map((points) => pick(points.map((point) => at(weights, point)))));
  return { upper: over(most), lower: over(least) };
}

/**
 * The largest ratio of one output, in doubles; anything below `start` if it is below that.
 *
 * For a given ratio the place of each part that has the largest surplus over it makes a larger one, until none does.
 */
function roughRatio(ups, downs, start, shares, low) {
  for (let [worst, best] = [start, 0]; ; worst = best) {
    let [top, bottom] = [0, 0];
    for (const [one, other] of shares) {
      const surplus = ups.map((up, z) => one * up - worst * other * downs[z]);
      const place = surplus.indexOf(most(surplus));
      const heard = surplus[place] > 0 ? 1 : low;
      top += one * heard * ups[place];
      bottom += other * heard * downs[place];
    }
    const found = top > 0 ? top / bottom : 0;
    best = Math.max(best, found);
    if (found === Infinity || !(found > worst * (1 + 1e-9))) return best;
  }
}

/** The same in whole numbers: the largest ratio of one output, or `start` if that is larger. */
function exactRatio(ups, downs, start, masses, rest) {
  for (let worst = start; ;) {
    let [top, bottom] = [0n, 0n];
    for (const [one, other] of masses) {
      const surplus = ups.map((up, z) => one * up * worst.bottom - other * downs[z] * worst.top);
      const place = surplus.indexOf(most(surplus));
      const heard = surplus[place] > 0n ? rest.top : rest.bottom;
      top += one * heard * ups[place];
      bottom += other * heard * downs[place];
    }
    if (top * worst.bottom <= bottom * worst.top) return worst;
    worst = { top, bottom };
  }
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
  const columns = counted(table.symbols).map((symbol) => counted(table.levels).map((x) => table.weight(x, symbol)));
  const rough = columns.map((column) => {
    const chances = laws.map((law) => law.reduce((sum, share, x) => sum + share * column[x], 0));
    return most(chances) > 0 ? most(chances) / least(chances) : 0; // a symbol that is never given tells nothing
  });
  const worst = most(rough);
  const candidates = columns.filter((_, symbol) => rough[symbol] >= worst * NEARLY);
  const exact = laws.map((law) => inUnits(law).parts);
  return candidates.map((column) => spread(exact.map((law) => mean(law, column)))).reduce(larger);
}

/** The mean of whole numbers under a law, exactly; the law need not quite sum to 1. */
const mean = (law, numbers) => ({ top: total(law.map((part, x) => part * BigInt(numbers[x]))), bottom: total(law) });

/** The largest over the smallest of some numbers that are not all 0. */
function spread(numbers) {
  const [high, low] = [numbers.reduce(larger), numbers.reduce(smaller)];
  return { top: high.top * low.bottom, bottom: high.bottom * low.top };
}

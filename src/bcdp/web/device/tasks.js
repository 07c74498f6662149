/** What the answers are for: a device does not need it, and refuses what it cannot understand all the same. */

import { areCuts, keys, list, namesAmong, refuse, whole } from "./checks.js";

const KINDS = {
  mean: ["by"],
  frequency: [],
  table: [],
  distribution: ["bins", "edges", "quantiles", "band"],
  regression: [],
}; // each with its own keys
const MOST_QUANTILES = 99;

/** Refuses tasks that do not fit the features. */
export function checkTasks(tasks, features) {
  const named = (...types) => [...features].filter(([, { type }]) => types.includes(type)).map(([name]) => name);
  const numbers = named("numeric", "binary");
  const categories = named("categorical", "binary");
  const complete = new Map([...features].filter(([, { own }]) => !own)); // no answer is not a value of its own
  const inTables = [...features.keys()].filter((name) => complete.has(name) || categories.includes(name));
  list("collection.tasks", tasks, 1).forEach((task, number) => {
    const path = `collection.tasks.${number}`;
    const kind = Object.keys(KINDS).find((key) => Object.hasOwn(Object(task), key)) ?? "mean";
    keys(path, task, [kind], ["weight", ...KINDS[kind]]);
    if ("weight" in task) checkNumber(`${path}.weight`, task.weight, (weight) => weight > 0);
    if (kind === "regression") checkRegression(`${path}.regression`, task.regression, complete);
    else if (kind === "table") checkTable(`${path}.table`, task.table, inTables);
    else if (kind === "distribution") checkDistribution(path, task, complete);
    else namesAmong(`${path}.${kind}`, task[kind], kind === "mean" ? numbers : categories);
    if (kind === "mean" && "by" in task) {
      namesAmong(`${path}.mean`, task.mean, [...complete.keys()]);
      namesAmong(`${path}.by`, [task.by], inTables.filter((name) => !task.mean.includes(name)));
    }
  });
  const spread = tasks.flatMap(({ distribution = [] }) => distribution);
  if (new Set(spread).size < spread.length) throw refuse("collection.tasks", spread, "one distribution of each number");
}

function checkTable(path, table, names) {
  if (namesAmong(path, table, names).length !== 2) throw refuse(path, table, "two features");
}

function checkDistribution(path, task, features) {
  const { distribution, bins = 32, edges, quantiles = [0.5], band = "pointwise" } = task;
  const numbers = [...features.keys()].filter((name) => features.get(name).type === "numeric");
  const bounds = namesAmong(`${path}.distribution`, distribution, numbers).map((name) => features.get(name).bounds);
  if (!("edges" in task)) whole(`${path}.bins`, bins, 16, 256);
  else if ("bins" in task || !bounds.every((both) => areCuts(edges, both)) || edges.length < 15 || edges.length > 255) {
    throw refuse(`${path}.edges`, edges, "15 to 255 rising numbers inside the bounds, in place of bins");
  }
  if (!areCuts(quantiles, [0, 1]) || quantiles.length > MOST_QUANTILES) {
    throw refuse(`${path}.quantiles`, quantiles, `1 to ${MOST_QUANTILES} rising numbers above 0 and below 1`);
  }
  if (!["pointwise", "simultaneous"].includes(band)) throw refuse(`${path}.band`, band, "pointwise or simultaneous");
}

function checkRegression(path, regression, features) {
  const names = [...features.keys()];
  keys(path, regression, ["target", "features"], ["intercept", "ridge", "radius", "explains", "link", "interactions"]); // prettier-ignore
  const { target, intercept = true, ridge = null, radius = null, explains = 0.1, link = null, interactions = null } = regression; // prettier-ignore
  namesAmong(`${path}.target`, [target], names);
  namesAmong(`${path}.features`, regression.features, names.filter((name) => name !== target)); // prettier-ignore
  if (typeof intercept !== "boolean") throw refuse(`${path}.intercept`, intercept, "true or false");
  if (ridge !== null) checkNumber(`${path}.ridge`, ridge, (number) => number >= 0);
  if (radius !== null) checkNumber(`${path}.radius`, radius, (number) => number > 0);
  checkNumber(`${path}.explains`, explains, (number) => number > 0 && number < 1);
  const line = features.get(target).type === "numeric" || !intercept || ridge !== null || radius !== null;
  if (link !== null && (link !== "logit" || line)) {
    throw refuse(`${path}.link`, link, "null, or logit for a target with values, with an intercept and neither ridge nor radius"); // prettier-ignore
  }
  if (interactions === null) return;
  const able = regression.features.filter((name) => features.get(name).type !== "numeric");
  const pairs = list(`${path}.interactions`, interactions, 1).map((pair) => namesAmong(`${path}.interactions`, pair, able));
  const apart = new Set(pairs.map((pair) => JSON.stringify([...pair].sort()))).size === pairs.length;
  if (!apart || !intercept || link !== null || pairs.some((pair) => pair.length !== 2)) {
    throw refuse(`${path}.interactions`, interactions, "different pairs of features with values, with an intercept and without link"); // prettier-ignore
  }
}

function checkNumber(path, value, fits) {
  if (!(Number.isFinite(value) && fits(value))) throw refuse(path, value, "a finite number, neither too small nor too large");
}

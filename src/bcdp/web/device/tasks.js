/** What the answers are for: a device does not need it, and refuses what it cannot understand all the same. */

import { keys, list, namesAmong, refuse } from "./checks.js";

const KINDS = ["mean", "frequency", "regression"];

/** Refuses tasks that do not fit the features. */
export function checkTasks(tasks, features) {
  const named = (...types) => [...features].filter(([, { type }]) => types.includes(type)).map(([name]) => name);
  const numbers = named("numeric", "binary");
  const categories = named("categorical", "binary");
  list("collection.tasks", tasks, 1).forEach((task, number) => {
    const path = `collection.tasks.${number}`;
    const kind = KINDS.find((key) => Object.hasOwn(Object(task), key)) ?? KINDS[0];
    keys(path, task, [kind], ["weight"]);
    if ("weight" in task) checkNumber(`${path}.weight`, task.weight, (weight) => weight > 0);
    if (kind === "regression") checkRegression(`${path}.regression`, task.regression, numbers, [...features.keys()]);
    else namesAmong(`${path}.${kind}`, task[kind], kind === "mean" ? numbers : categories);
  });
}

function checkRegression(path, regression, numbers, names) {
  keys(path, regression, ["target", "features"], ["intercept", "ridge", "radius", "explains"]);
  const { target, intercept = true, ridge = null, radius = null, explains = 0.1 } = regression;
  namesAmong(`${path}.target`, [target], numbers);
  namesAmong(`${path}.features`, regression.features, names.filter((name) => name !== target)); // prettier-ignore
  if (typeof intercept !== "boolean") throw refuse(`${path}.intercept`, intercept, "true or false");
  if (ridge !== null) checkNumber(`${path}.ridge`, ridge, (number) => number >= 0);
  if (radius !== null) checkNumber(`${path}.radius`, radius, (number) => number > 0);
  checkNumber(`${path}.explains`, explains, (number) => number > 0 && number < 1);
}

function checkNumber(path, value, fits) {
  if (!(Number.isFinite(value) && fits(value))) throw refuse(path, value, "a finite number, neither too small nor too large");
}

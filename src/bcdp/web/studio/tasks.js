/** What is wanted, by ticking; tables, groups and regressions are added below. */

import { element } from "../page.js";
import { button, checkbox, chooser } from "./fields.js";
import { furtherTasks, isTicked, protectedNames, tasksOf, ticked, withOwn } from "./policy.js";

const KINDS = { table: "two-way table of", by: "mean by group of", regression: "regression of" };
const JOINED = { table: "and", by: "by", regression: "on" };

/** The ticks of a policy's tasks; `change(changed, anew)` takes a change of the policy. */
export function shownTasks(policy, change) {
  const names = protectedNames(policy);
  const tick = (kind, name, word) =>
    checkbox(`${name}: ${word}`, isTicked(policy, kind, name), (on) => change((now) => ticked(now, kind, name, on)));
  const ticks = names.flatMap((name) => {
    const { type } = policy.features[name];
    if (type === "categorical") return [tick("frequency", name, "shares")];
    if (type === "ordinal") return [tick("mean", name, "mean score"), tick("frequency", name, "shares")];
    return type === "numeric"
      ? [tick("mean", name, "mean"), tick("distribution", name, "distribution")]
      : [tick("mean", name, "share")];
  });
  const further = furtherTasks(policy).map(([place, task]) => {
    const others = (now) => tasksOf(now).filter((_, index) => index !== place);
    return checkbox(told(task), true, () => change((now) => withOwn(now, "tasks", others(now)), true));
  });
  const add = names.length > 1 ? [adding(names, change)] : [];
  return [element("div", { class: "ticks", "data-path": '["tasks"]' }, ...ticks, ...further), ...add];
}

function adding(names, change) {
  const listed = Object.fromEntries(names.map((name) => [name, name]));
  const between = element("span", {}, JOINED.table);
  const kind = chooser("Kind of task", KINDS, "table", (value) => (between.textContent = JOINED[value]));
  const [one, two] = [
    chooser("First feature", listed, names[0], () => {}),
    chooser("Second feature", listed, names[1], () => {}),
  ];
  const add = button("Add", () => change((now) => withTask(now, kind.value, one.value, two.value), true));
  return element("p", { class: "fields" }, kind, one, between, two, add);
}

/** The policy with one more task; a regression of the same target gets one more feature. */
function withTask(policy, kind, first, second) {
  const tasks = tasksOf(policy);
  const made = { table: { table: [first, second] }, by: { mean: [first], by: second } }[kind];
  if (made) return withOwn(policy, "tasks", [...tasks, made]);
  const place = tasks.findIndex(({ regression }) => regression?.target === first);
  if (place < 0) return withOwn(policy, "tasks", [...tasks, { regression: { target: first, features: [second] } }]);
  const { regression } = tasks[place];
  const more = { regression: { ...regression, features: [...new Set([...regression.features, second])] } };
  return withOwn(policy, "tasks", tasks.with(place, more));
}

function told({ table, by, mean, regression }) {
  if (table) return `table of ${table.join(" and ")}`;
  if (by !== undefined) return `mean of ${mean.join(", ")} by ${by}`;
  return `regression of ${regression.target} on ${regression.features.join(", ")}`;
}

// What the studio changes in a policy, and how it writes lists.
import assert from "node:assert/strict";
import test from "node:test";

import { listRead, listWritten } from "../../src/bcdp/web/studio/lists.js";
import { added, removed, renamed, retyped, tasksOf } from "../../src/bcdp/web/studio/policy.js";

const binary = { type: "binary", values: ["no", "yes"] };
const policy = {
  epsilon: 1,
  features: { weight: binary, a: binary, b: binary, link: binary, site: { type: "open", values: ["x", "y"] } },
  tasks: [
    { mean: ["weight", "a"], weight: 2 },
    { weight: 3, table: ["a", "b"] },
    { regression: { target: "a", features: ["b", "link"], link: "logistic", interactions: [["b", "link"]] } },
  ],
  correlation: { q: 0.2, odds: 3 },
};

test("a feature named like a key of a task takes nothing else with it", () => {
  const rest = removed(policy, "weight");
  assert.deepEqual(rest.tasks, [{ mean: ["a"], weight: 2 }, ...policy.tasks.slice(1)]);
  assert.deepEqual(Object.keys(rest.features), ["a", "b", "link", "site"]);
  assert.deepEqual(removed(policy, "link").tasks, policy.tasks.slice(0, 2));
  const named = renamed(policy, "weight", "kilograms").tasks;
  assert.deepEqual(named, [{ mean: ["kilograms", "a"], weight: 2 }, ...policy.tasks.slice(1)]);
  const { regression } = renamed(policy, "link", "bond").tasks[2];
  assert.deepEqual(regression, {
    target: "a",
    features: ["b", "bond"],
    link: "logistic",
    interactions: [["b", "bond"]],
  });
});

test("two numbers for all features are no features", () => {
  const features = { q: binary, odds: binary, r: binary };
  const both = { epsilon: 1, features, correlation: { q: 0.2, odds: 3 } };
  assert.deepEqual(removed(both, "q").correlation, { q: 0.2, odds: 3 });
  assert.deepEqual(renamed(both, "odds", "s").correlation, { q: 0.2, odds: 3 });
  assert.deepEqual(removed({ ...both, correlation: { r: 0.3, q: { odds: 2 } } }, "q").correlation, { r: 0.3 });
  const pairs = { pairs: { r: { q: 0.1, odds: 0.2 }, q: { r: 0.3 } } };
  assert.deepEqual(removed({ ...both, correlation: pairs }, "q").correlation, { pairs: { r: { odds: 0.2 } } });
  assert.deepEqual(renamed({ ...both, correlation: pairs }, "r", "s").correlation, {
    pairs: { s: { q: 0.1, odds: 0.2 }, q: { s: 0.3 } },
  });
});

test("open features are asked for nothing", () => {
  assert.deepEqual(tasksOf({ features: policy.features }), [{ mean: ["weight", "a", "b", "link"] }]);
  const opened = retyped(policy, "weight", "open");
  assert.deepEqual(opened.tasks[0], { mean: ["a"], weight: 2 });
  assert.deepEqual(opened.features.weight, { type: "open", values: ["no", "yes"] });
  const closed = retyped(opened, "site", "categorical");
  assert.deepEqual(closed.tasks.at(-1), { frequency: ["site"] });
  assert.equal(Object.keys(added(policy).features).length, 6);
});

test("lists are read as they are written", () => {
  const lists = [["a", "b"], ["a, b", "c"], ['say "so"', "x"], [" outer ", "y"], ['"', ","], ["1", "true"], ["a b"]];
  for (const list of lists) assert.deepEqual(listRead(listWritten(list)), list);
  assert.deepEqual(listRead("no , yes,, "), ["no", "yes"]);
  assert.deepEqual(listRead('5" pipe, 6" pipe'), ['5" pipe', '6" pipe']);
  assert.deepEqual(listRead(""), []);
});

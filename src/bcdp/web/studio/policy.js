/** A policy as plain data, and what the page changes in it: every change gives a new one, so that it can be undone. */

const LEAST = 0.02; // the smallest delta of a slider

/** The delta that counts. */
export const deltaOf = (policy, name) => policy.features[name].delta ?? policy.epsilon;

/** A place of a slider, from 0 to 100, for a level up to the most; equal steps are equal factors. */
export const placeOf = (level, most) =>
  Math.round((100 * Math.log(Math.max(level, LEAST) / LEAST)) / Math.log(Math.max(most, 2 * LEAST) / LEAST));

/** The level at a place of a slider, in two digits; the last place is the most itself. */
export function levelAt(place, most) {
  if (place >= 100) return most;
  return Number((LEAST * (Math.max(most, 2 * LEAST) / LEAST) ** (place / 100)).toPrecision(2));
}

const without = (object, key) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

/** The policy with another value of a key of a feature; `undefined` leaves it out. */
export function withKey(policy, name, key, value) {
  const kept = without(policy.features[name], key);
  const feature = value === undefined ? kept : { ...kept, [key]: value };
  return { ...policy, features: { ...policy.features, [name]: feature } };
}

/** The policy with another key of its own. */
export const withOwn = (policy, key, value) =>
  value === undefined ? without(policy, key) : { ...policy, [key]: value };

/** What a feature of a type begins as: what it shares with the old one stays. */
export function retyped(policy, name, type) {
  const { label, delta, help, values, bounds } = policy.features[name];
  const kept = Object.fromEntries(Object.entries({ label, delta, help }).filter(([, value]) => value !== undefined));
  const shape = {
    binary: { values: (Array.isArray(values) && values.length >= 2 ? values : ["no", "yes"]).slice(0, 2) },
    numeric: { bounds: bounds ?? ["FILL", "FILL"] },
    categorical: { values: values ?? ["FILL"] },
  };
  const features = { ...policy.features, [name]: { type, ...shape[type], ...kept } };
  return tidied({ ...policy, features }, [name]);
}

/** The policy with a feature under another name, wherever it is named. */
export function renamed(policy, from, to) {
  if (!to || (to !== from && Object.hasOwn(policy.features, to))) return policy;
  const renaming = (value) => {
    if (value === from) return to;
    if (Array.isArray(value)) return value.map(renaming);
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renaming(inner)]));
    }
    return value;
  };
  const keyed = (object) =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name === from ? to : name, value]));
  const { features, tasks, correlation } = policy;
  const stated = correlation !== null && typeof correlation === "object" ? keyed(correlation) : correlation;
  return {
    ...policy,
    features: keyed(features),
    ...(tasks ? { tasks: renaming(tasks) } : {}),
    ...(correlation === undefined ? {} : { correlation: stated }),
  };
}

/** The policy with one more feature. */
export function added(policy) {
  let count = Object.keys(policy.features).length + 1;
  while (Object.hasOwn(policy.features, `question ${count}`)) count += 1;
  const features = { ...policy.features, [`question ${count}`]: { type: "binary", values: ["no", "yes"] } };
  return {
    ...policy,
    features,
    ...(policy.tasks ? { tasks: joined(policy.tasks, "mean", [`question ${count}`]) } : {}),
  };
}

/** The policy without a feature, and without the tasks that need it. */
export function removed(policy, name) {
  const correlation = policy.correlation;
  const stated = correlation !== null && typeof correlation === "object" ? without(correlation, name) : correlation;
  const rest = { ...policy, features: without(policy.features, name) };
  if (correlation !== undefined) rest.correlation = stated;
  return tidied(rest, [name], true);
}

/** Leaves features out of the tasks that cannot have them any more. */
function tidied(policy, names, gone = false) {
  if (!policy.tasks) return policy;
  const fits = (kind, name) => {
    const { type } = policy.features[name] ?? {};
    return !gone && ({ mean: type !== "categorical", frequency: type === "categorical" }[kind] ?? type === "numeric");
  };
  const kept = (kind, listed) => listed.filter((name) => !names.includes(name) || fits(kind, name));
  let tasks = policy.tasks.map((task) => {
    const [kind] = Object.keys(task);
    const plain =
      Array.isArray(task[kind]) && ["mean", "frequency", "distribution"].includes(kind) && task.by === undefined;
    if (plain) return { ...task, [kind]: kept(kind, task[kind]) };
    return names.some((name) => JSON.stringify(task).includes(JSON.stringify(name))) ? null : task;
  });
  tasks = tasks.filter((task) => task && Object.values(task)[0].length !== 0);
  const asked = new Set(tasks.flatMap((task) => Object.values(task).flat()));
  for (const name of gone ? [] : names) {
    if (!asked.has(name))
      tasks = joined(tasks, policy.features[name].type === "categorical" ? "frequency" : "mean", [name]);
  }
  return tasks.length ? { ...policy, tasks } : without(policy, "tasks");
}

/** Tasks with some features more in the one of a kind. */
function joined(tasks, kind, names) {
  const place = tasks.findIndex((task) => task[kind] !== undefined && task.by === undefined);
  if (place < 0) return [...tasks, { [kind]: names }];
  return tasks.map((task, index) => (index === place ? { ...task, [kind]: [...task[kind], ...names] } : task));
}

/** The tasks that are written or, left out, meant. */
export function tasksOf({ tasks, features }) {
  if (tasks) return tasks;
  const named = (wanted) => Object.keys(features).filter((name) => (features[name].type === "categorical") === wanted);
  const [numbers, categories] = [named(false), named(true)];
  return [...(numbers.length ? [{ mean: numbers }] : []), ...(categories.length ? [{ frequency: categories }] : [])];
}

/** Whether a feature is in the plain task of a kind. */
export const isTicked = (policy, kind, name) =>
  tasksOf(policy).some((task) => task.by === undefined && Array.isArray(task[kind]) && task[kind].includes(name));

/** The policy with a feature in the plain task of a kind, or not. */
export function ticked(policy, kind, name, on) {
  let tasks = tasksOf(policy);
  if (on) tasks = joined(tasks, kind, [name]);
  else {
    const plain = (task) => task.by === undefined && Array.isArray(task[kind]);
    tasks = tasks.map((task) =>
      plain(task) ? { ...task, [kind]: task[kind].filter((other) => other !== name) } : task,
    );
    tasks = tasks.filter((task) => !plain(task) || task[kind].length);
  }
  return { ...policy, tasks };
}

/** The tasks that are more than ticks, as [place, task]. */
export const furtherTasks = (policy) =>
  tasksOf(policy)
    .map((task, place) => [place, task])
    .filter(([, task]) => task.by !== undefined || task.table || task.regression);

/** The two numbers of an assumption for all features; null if something else is stated. */
export function assumed({ correlation = 1 }) {
  if (typeof correlation === "number") return correlation < 1 ? { q: correlation } : {};
  const plain = Object.entries(correlation).every(
    ([key, value]) => ["q", "odds"].includes(key) && typeof value === "number",
  );
  return plain ? correlation : null;
}

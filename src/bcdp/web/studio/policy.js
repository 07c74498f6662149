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

/** Whether a feature is protected: open ones are sent as they are. */
const isProtected = ({ type }) => type !== "open";

/** The names of the features that are protected, or of those that are not. */
export const protectedNames = ({ features }) => Object.keys(features).filter((name) => isProtected(features[name]));
export const openNames = ({ features }) => Object.keys(features).filter((name) => !isProtected(features[name]));

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
  const { label, delta, help, if_wrong, values, bounds } = policy.features[name];
  const shared = isProtected({ type }) ? { label, delta, help, if_wrong } : { label, help };
  const kept = Object.fromEntries(Object.entries(shared).filter(([, value]) => value !== undefined));
  const shape = {
    binary: { values: (Array.isArray(values) && values.length >= 2 ? values : ["no", "yes"]).slice(0, 2) },
    numeric: { bounds: bounds ?? ["FILL", "FILL"] },
    categorical: { values: values ?? ["FILL"] },
    ordinal: { values: values ?? ["FILL"] },
    open: { values: values ?? ["FILL"] },
  };
  const features = { ...policy.features, [name]: { type, ...shape[type], ...kept } };
  return tidied({ ...policy, features }, name);
}

// The keys of a task that name features: a weight or a link is no name, even if a feature is called so.
const NAMING = ["mean", "frequency", "distribution", "table", "by", "regression", "target", "features", "interactions"];

/** A task, or a part of one, with `named` in place of every name of a feature. */
function mapNames(part, named) {
  if (Array.isArray(part)) return part.map((inner) => mapNames(inner, named));
  if (part === null || typeof part !== "object") return named(part);
  return Object.fromEntries(
    Object.entries(part).map(([key, inner]) => [key, NAMING.includes(key) ? mapNames(inner, named) : inner]),
  );
}

/** The features that a task names. */
function namesIn(task) {
  const found = new Set();
  mapNames(task, (name) => found.add(name));
  return found;
}

/** A correlation whose mappings by feature are changed; two numbers for all, or a file, name no feature. */
function byFeature(correlation, changed) {
  if (correlation === null || typeof correlation !== "object" || assumed({ correlation }) !== null) return correlation;
  const { pairs } = correlation;
  if (pairs !== null && typeof pairs === "object") {
    const inner = Object.entries(pairs).map(([name, others]) => [name, changed(others)]);
    return { ...correlation, pairs: changed(Object.fromEntries(inner)) };
  }
  const files = ["pairs", "prior", "pilot"].some((source) => typeof correlation[source] === "string");
  const stated = files ? correlation : changed(correlation);
  return Object.keys(stated).length ? stated : 1;
}

/** The policy with a feature under another name, wherever it is named. */
export function renamed(policy, from, to) {
  if (!to || (to !== from && Object.hasOwn(policy.features, to))) return policy;
  const keyed = (object) =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name === from ? to : name, value]));
  const { features, tasks, correlation } = policy;
  return {
    ...policy,
    features: keyed(features),
    ...(tasks ? { tasks: tasks.map((task) => mapNames(task, (name) => (name === from ? to : name))) } : {}),
    ...(correlation === undefined ? {} : { correlation: byFeature(correlation, keyed) }),
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
  const rest = { ...policy, features: without(policy.features, name) };
  if (policy.correlation !== undefined) {
    rest.correlation = byFeature(policy.correlation, (object) => without(object, name));
  }
  return tidied(rest, name);
}

/** The kind of a task that is about each of its features alone; undefined for any other. */
const plainKind = (task) =>
  task.by === undefined ? ["mean", "frequency", "distribution"].find((kind) => Array.isArray(task[kind])) : undefined;

/** Leaves a feature out of the tasks that cannot have it any more; one that is asked for nothing else gets a task. */
function tidied(policy, name) {
  if (!policy.tasks) return policy;
  const type = policy.features[name]?.type; // undefined if it is gone
  const usual = { numeric: "mean", binary: "mean", ordinal: "mean", categorical: "frequency" }[type];
  const fits = (kind) =>
    kind === usual || (kind === "distribution" && type === "numeric") || (kind === "frequency" && type === "ordinal");
  let tasks = policy.tasks.flatMap((task) => {
    const kind = plainKind(task);
    if (!kind) return namesIn(task).has(name) ? [] : [task];
    const kept = task[kind].filter((other) => other !== name || fits(kind));
    return kept.length ? [{ ...task, [kind]: kept }] : [];
  });
  if (usual && !tasks.some((task) => namesIn(task).has(name))) tasks = joined(tasks, usual, [name]);
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
  const names = protectedNames({ features });
  const except = (type) => names.filter((name) => features[name].type !== type);
  const categories = except("numeric").filter((name) => features[name].type !== "binary");
  const numbers = except("categorical");
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

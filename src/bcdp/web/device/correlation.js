/** How correlated the features are: an assumption of whoever planned, which the plan states. */

import { entries, keys, list, refuse } from "./checks.js";

/**
 * The plan's assumption: `q(feature, others)` bounds the distance between the laws of the others given two values of a
 * feature; `laws(feature, other)` are laws of which every such law of the other is a mixture, null if none are known.
 * Of the numbers in `rounded` the bounds see no more than one random rounding to 17 levels; `productQ(feature, numbers)`
 * bounds one rounding of the product of two of them, or of the square of one.
 */
export function readCorrelation(document) {
  if (typeof document?.source !== "string") throw refuse("correlation.source", document?.source, "text");
  if (document.kind === "per feature") return perFeature(document);
  if (document.kind === "listed") return listed(document);
  throw refuse("correlation.kind", document.kind, "per feature or listed");
}

function perFeature(document) {
  keys("correlation", document, ["kind", "default", "named", "source"]);
  const named = new Map(entries("correlation.named", document.named));
  for (const q of [document.default, ...named.values()]) checkShare("correlation", q);
  const q = (name, others) => (others.length ? named.get(name) ?? document.default : 0);
  return { source: document.source, q, laws: () => null, rounded: new Set(), productQ: () => 1 };
}

function listed(document) {
  keys("correlation", document, ["kind", "bounds", "source"], ["laws", "rounded", "products"]);
  const set = (others) => [...new Set(others)].sort();
  const distances = (path, rows) =>
    known(path, rows, (others, q) => {
      checkShare(path, q);
      list(path, others).forEach((other) => checkName(path, other));
      return set(others);
    });
  const bounds = distances("correlation.bounds", document.bounds);
  const products = distances("correlation.products", document.products ?? []);
  const laws = known("correlation.laws", document.laws ?? [], (other, rows) => {
    list("correlation.laws", rows, 1).forEach((row) => checkLaw(row, rows[0]?.length));
    checkName("correlation.laws", other);
    return other;
  });
  const rounded = new Set("rounded" in document ? list("correlation.rounded", document.rounded, 1) : []);
  rounded.forEach((name) => checkName("correlation.rounded", name));
  if (rounded.size < (document.rounded ?? []).length) throw refuse("correlation.rounded", document.rounded, "each once");
  return {
    source: document.source,
    rounded,
    productQ: (name, numbers) => products(name, set(numbers)) ?? 1,
    q: (name, others) => (others.length ? bounds(name, set(others)) ?? 1 : 0),
    laws: (name, other) => laws(name, other) ?? null,
  };
}

/** What rows `[feature, others, statement]` state, by feature and others; each is stated once. */
function known(path, rows, checked) {
  const statements = new Map();
  const key = (name, others) => JSON.stringify([name, others]);
  for (const row of list(path, rows)) {
    if (list(path, row, 3).length !== 3) throw refuse(path, row, "three entries");
    checkName(path, row[0]);
    const place = key(row[0], checked(row[1], row[2]));
    if (statements.has(place)) throw refuse(path, row, "each feature and others once");
    statements.set(place, row[2]);
  }
  return (name, others) => statements.get(key(name, others));
}

function checkName(path, name) {
  if (typeof name !== "string") throw refuse(path, name, "names of features");
}

function checkShare(path, share) {
  if (!(typeof share === "number" && share >= 0 && share <= 1)) throw refuse(path, share, "numbers from 0 to 1");
}

function checkLaw(row, length) {
  list("correlation.laws", row, 1).forEach((share) => checkShare("correlation.laws", share));
  const sum = row.reduce((total, share) => total + share, 0);
  if (row.length !== length || Math.abs(sum - 1) >= 1e-9) throw refuse("correlation.laws", row, "probabilities");
}

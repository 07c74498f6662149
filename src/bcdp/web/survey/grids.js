/** Questions that follow each other and have one scale: the rows of a grid where there is room, lists on phones. */

import { element } from "../page.js";

/** @typedef {import("./fields.js").Listed} Listed */
/** @typedef {import("./fields.js").Feature} Feature */

const MOST_COLUMNS = 7;

/**
 * The nodes of a form, those of questions with one scale together.
 * @type {(features: readonly Feature[], nodes: readonly HTMLElement[]) => HTMLElement[]}
 */
export function inGrids(features, nodes) {
  /** @type {{ scale: string | null, rows: HTMLElement[] }[]} */
  const groups = [];
  features.forEach((feature, index) => {
    const [scale, last] = [scaleOf(feature), groups.at(-1)];
    if (last && scale !== null && last.scale === scale) last.rows.push(nodes[index]);
    else groups.push({ scale, rows: [nodes[index]] });
  });
  return groups.flatMap(({ rows }) => (rows.length > 1 ? [gridOf(rows)] : rows));
}

/**
 * What two questions of a grid have in common; null for those that stand alone.
 * @type {(feature: Feature) => string | null}
 */
export function scaleOf(feature) {
  const { type, values, valueWords, missing } = /** @type {Listed} */ (feature);
  const fits = type === "ordinal" && values.length <= MOST_COLUMNS;
  return fits ? JSON.stringify([values, valueWords, missing]) : null;
}

/** @type {(rows: HTMLElement[]) => HTMLElement} */
function gridOf(rows) {
  const words = [...rows[0].querySelectorAll(".choice")].map((choice) => element("span", {}, choice.textContent ?? ""));
  // every button has its own label, so that the heads are for the eye only
  const heads = element("div", { class: "heads", "aria-hidden": "true" }, element("div", { class: "scale" }, ...words));
  return element("div", { class: "grid" }, heads, ...rows);
}

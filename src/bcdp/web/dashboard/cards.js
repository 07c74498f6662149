/** A card for each question: its picture, its numbers in its own unit or in percent, and how precise they are. */

import { element, measured, number, table } from "../page.js";
import { curvePicture, gridPicture, rowPicture } from "./pictures.js";

/** @typedef {import("./pictures.js").Row} Row */

const MOST = 12; // rows of a section that are shown at once
const NICE = [1, 2, 3, 4, 5, 6, 8, 10];

/** The cards of all sections. `precision` has the half width that each feature is to reach, by name. */
export function questionCards({ sections, estimates, precision, planned }) {
  const percent = `${number(estimates.level * 100)}%`;
  const targets = new Map((precision ?? []).map(({ name, target }) => [name, target]));
  return sections.flatMap((section) =>
    section.heads[0] === "feature"
      ? section.rows.map((row) =>
          numberCard(row, section, percent, planned ? targets.get(row.name) : undefined, planned),
        )
      : [tableCard(section, percent)],
  );
}

/** A number as it is read: a share in percent, as precise as its error. */
export const inUnit = (value, { se, percent }) =>
  percent && value !== null ? `${measured(100 * value, 100 * (se ?? 0))}%` : measured(value, se ?? 0);

/** The ends of an interval, the lower one first in any language. */
export const between = (row) => `${inUnit(row.low, row)} to ${inUnit(row.high, row)}`;

/** Half the width of an interval, in points for a share. */
export const widthOf = (half, percent) => {
  const two = Number((percent ? 100 * half : half).toPrecision(2));
  return `± ${number(two)}${percent ? " points" : ""}`;
};

const card = (title, ...parts) =>
  element("article", { class: "card question" }, element("h2", {}, element("bdi", {}, title)), ...parts);

const small = (text) => element("p", { class: "small" }, text);

const sentence = (text) => text.replace(/[^.?!]$/, "$&.");

function numberCard(row, { remarks }, percent, target, planned) {
  const { label, value, se, answers, possible, open_people: worth } = row;
  const known = value !== null;
  const scaled = !possible.includes(null);
  const ends = (end) => (row.percent ? `${100 * end}%` : number(end));
  const lines = [`${percent} interval ${between(row)}`];
  if (se) lines.push(`Precision ${widthOf(2 * se, row.percent)}`);
  if (target)
    lines[lines.length - 1] += ` now, ${widthOf(target, row.percent)} with ${planned.toLocaleString("en")} people`;
  if (answers !== null) lines.push(`${answers.toLocaleString("en")} answers${worthOf(worth)}`);
  return card(
    label,
    element("p", { class: "value" }, known ? inUnit(value, row) : "nobody was asked"),
    ...(scaled ? [rowPicture(row, possible, ends)] : []),
    ...(known ? lines.map(small) : []),
    ...remarks.filter((remark) => remark.includes(label)).map((remark) => small(sentence(remark))),
  );
}

const worthOf = (worth) => (worth === undefined ? "" : `, worth ${worth.toLocaleString("en")} open ones`);

function tableCard(section, percent) {
  const { subject, heads, drawn: kind, interval, remarks, note } = section;
  const rows = section.rows.filter(({ name }) => section.told.includes(name));
  const counted = rows.some(({ answers }) => answers !== null);
  const valued = kind !== "curve" && rows.some(({ open_people: worth }) => worth !== undefined);
  const scale = kind === "curve" ? null : scaleOf(section);
  const header = [
    "",
    ...(scale ? ["Picture"] : []),
    capital(heads[1]),
    `${percent} interval${interval}`,
    ...(counted ? ["Answers"] : []),
    ...(valued ? ["Worth"] : []),
  ];
  const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
  const cells = rows.map((row) => [
    kind === "points" ? row.label : row.name,
    ...(scale ? [rowPicture(row, scale(row))] : []),
    inUnit(row.value, row),
    between(row),
    ...(counted ? [count(row.answers)] : []),
    ...(valued ? [count(row.open_people)] : []),
  ]);
  const order = kind === "bars" ? largest(rows) : [...rows.keys()];
  const told = folded(subject, cells, order, (part) => named(subject, header, part));
  const above = { curve: curvePicture, grid: gridPicture }[kind];
  const words = [note, ...remarks].filter(Boolean).map((text) => small(sentence(text)));
  if (!above) return card(subject, told, ...words);
  const numbers = element("details", { "data-about": `${subject}: numbers` }, element("summary", {}, "Numbers"), told);
  return card(subject, element("div", { class: "pictured" }, above(section)), numbers, ...words);
}

/** Of each row the scale of its variable: bars start at 0 and end above the highest interval. */
function scaleOf({ drawn, rows }) {
  if (rows.some(({ possible }) => possible.includes(null))) return null;
  if (drawn !== "bars" && drawn !== "grid") return ({ possible }) => possible;
  const most = Math.max(...rows.map(({ high }) => high ?? 0), 1e-9);
  const power = 10 ** Math.floor(Math.log10(most));
  const end = power * (NICE.find((nice) => nice * power >= most * (1 - 1e-12)) ?? 10);
  return () => [0, Math.min(end, 1)];
}

/** A table that its card's title names; the card shows that title. */
function named(subject, header, rows) {
  const node = stacked(subject, header, rows);
  node.caption.className = "unseen";
  return node;
}

/** A table whose rows stand one below the other on a phone. */
export function stacked(caption, header, rows) {
  const node = table(caption, header, rows);
  node.className = "stacked";
  for (const picture of node.querySelectorAll("svg")) picture.parentElement.className = "picture";
  return node;
}

/** A long section: some rows, those that come first in an order, and all behind a word; a short one as it is. */
function folded(about, cells, order, made) {
  if (cells.length <= MOST + 2) return made(cells);
  const some = order.slice(0, MOST).sort((one, other) => one - other);
  const summary = element("summary", {}, `All ${cells.length} of ${about}`);
  const all = element("details", { "data-about": about }, summary, made(cells));
  return element("div", { class: "folded" }, made(some.map((each) => cells[each])), all);
}

/** The places of the rows, the largest value first. */
const largest = (rows) => [...rows.keys()].sort((one, other) => rows[other].value - rows[one].value);

const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

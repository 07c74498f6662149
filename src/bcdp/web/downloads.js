/** What the operator takes from the dashboard: the rows as CSV, all as JSON, a picture of the estimates. */

import { drawn, element, measured } from "./page.js";

const [WIDTH, ROW, LEFT] = [760, 34, 330];

/** Saves a text as a file. */
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Every row of every section, a line each. */
export function asCsv(sections) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const heads = ["about", "name", "label", "value", "se", "low", "high", "answers"];
  const lines = sections.flatMap(({ subject, rows }) =>
    rows.map((row) => [subject, row.name, row.label, row.value, row.se, row.low, row.high, row.answers]),
  );
  return [heads, ...lines].map((line) => line.map(quoted).join(",")).join("\n") + "\n";
}

/** A picture of the estimates that stands alone: each on a line of its own, between what is possible. */
export function asPicture(sections, title) {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const [ink, soft, accent, paper, line] = ["ink", "soft", "accent", "paper", "line"].map(colour);
  const told = sections.flatMap(({ subject, rows, told: names }) => {
    const shown = rows.filter(({ name, possible }) => names.includes(name) && !possible.includes(null));
    return shown.length ? [{ head: subject }, ...shown] : [];
  });
  const height = ROW * (told.length + 2);
  const text = (x, y, words, size = 14, fill = ink) =>
    drawn("text", { x, y, fill, "font-size": size, "font-family": "system-ui, sans-serif" }, words);
  const parts = told.flatMap(({ head, label, value, se, low, high, possible }, place) => {
    const y = ROW * (place + 2);
    if (head !== undefined) return [text(12, y, short(head, 90), 14, soft)];
    const x = (number) => LEFT + ((number - possible[0]) / (possible[1] - possible[0])) * 250;
    const axis = drawn("line", { x1: LEFT, x2: LEFT + 250, y1: y - 5, y2: y - 5, stroke: line, "stroke-width": 2 });
    if (value === null) return [text(12, y, short(label)), axis];
    const bar = drawn("line", { x1: x(low), x2: x(high), y1: y - 5, y2: y - 5, stroke: accent, "stroke-width": 4 });
    const point = drawn("circle", { cx: x(value), cy: y - 5, r: 6, fill: accent });
    return [text(12, y, short(label)), axis, bar, point, text(LEFT + 266, y, measured(value, se))];
  });
  const ground = drawn("rect", { width: WIDTH, height, fill: paper });
  const attributes = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height };
  const node = drawn("svg", attributes, ground, text(12, 26, short(title, 80), 18), ...parts);
  return new XMLSerializer().serializeToString(node);
}

const short = (words, most = 40) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);

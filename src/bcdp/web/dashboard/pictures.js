/** Pictures of estimates. They say nothing to a screen reader: the numbers are in the text beside them. */

import { drawn, number } from "../page.js";

/** @typedef {{ name: string, label: string, value: number | null, se: number | null, low: number, high: number,
 *    answers: number | null, open_people?: number, possible: (number | null)[], percent?: boolean }} Row */

export const WIDTH = 300;

/** @type {(value: number, range: readonly number[]) => number} */
export const place = (value, [low, high]) => 8 + ((value - low) / (high - low)) * (WIDTH - 16);

/** @type {(kind: string, x1: number, x2: number) => SVGLineElement} */
export const line = (kind, x1, x2) => drawn("line", { class: kind, x1, x2, y1: 12, y2: 12 });

/** @type {(height: number, ...parts: Node[]) => SVGSVGElement} */
const sized = (height, ...parts) =>
  drawn("svg", { viewBox: `0 0 ${WIDTH} ${height}`, "aria-hidden": "true" }, ...parts);

/** @type {(...parts: Node[]) => SVGSVGElement} */
export const picture = (...parts) => sized(24, ...parts);

/** A share as a bar, any other number as a dot, with its interval; below it the ends of its scale, where wanted. */
export function rowPicture({ value, low, high, percent }, range, ends) {
  const parts = [line("axis", 8, WIDTH - 8)];
  if (value !== null) {
    const from = place(Math.max(0, range[0]), range);
    if (percent && range[0] === 0)
      parts.push(drawn("rect", { class: "bar", x: from, y: 4, width: place(value, range) - from, height: 16 }));
    parts.push(line("interval", place(low, range), place(high, range)));
    if (!percent || range[0] < 0)
      parts.push(drawn("circle", { class: "point", cx: place(value, range), cy: 12, r: 5 }));
  }
  if (!ends) return picture(...parts);
  const label = (end, x, anchor) => drawn("text", { x, y: 38, "text-anchor": anchor }, ends(end));
  return sized(42, ...parts, label(range[0], 8, "start"), label(range[1], WIDTH - 8, "end"));
}

/** The cells of a table, darker for more, with their intervals where there is room; the table says the same. */
export function gridPicture({ rows, grid: [names, columns] }) {
  const [left, top, high, wide] = [100, 28, 46, 1.9 * WIDTH];
  const across = (wide - left) / columns.length;
  const most = Math.max(...rows.map(({ value }) => value ?? 0), 1e-9);
  const short = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}\u2026` : text);
  const text = (x, y, words, more = {}) => drawn("text", { x, y, "text-anchor": "middle", ...more }, words);
  const percent = (share) => `${(100 * share).toFixed(1)}%`;
  const heads = [
    ...columns.map((name, column) => text(left + (column + 0.5) * across, top - 10, short(`${name}`, across / 8))),
    ...names.map((name, row) =>
      text(left - 8, top + (row + 0.6) * high, short(`${name}`, 15), { "text-anchor": "end" }),
    ),
  ];
  const cells = rows.flatMap(({ value, low, high: end }, number) => {
    const [x, y] = [left + (number % columns.length) * across, top + Math.floor(number / columns.length) * high];
    const shade = (0.38 * (value ?? 0)) / most; // words stay readable on the darkest
    const cell = drawn("rect", { class: "cell", x, y, width: across, height: high, "fill-opacity": shade });
    if (across < 90) return [cell];
    if (value === null) return [cell, text(x + across / 2, y + high / 2 + 4, "not asked")];
    return [
      cell,
      text(x + across / 2, y + 20, percent(value)),
      text(x + across / 2, y + 36, `${percent(low)} to ${percent(end)}`),
    ];
  });
  const height = top + names.length * high + 4;
  return drawn("svg", { viewBox: `0 0 ${wide} ${height}`, "aria-hidden": "true" }, ...cells, ...heads);
}

/** A curve with its band; the table says the same in numbers. */
export function curvePicture({ rows, places, ends }) {
  const [height, wide] = [200, 1.6 * WIDTH];
  const [least, most] = rows[0].possible;
  const x = (position) => 8 + ((position - ends[0]) / (ends[1] - ends[0])) * (wide - 16);
  const y = (value) => height - 18 - ((value - least) / (most - least)) * (height - 38);
  const inner = (pick) => rows.map((row, number) => `${x(places[number])},${y(pick(row))}`);
  const curve = (pick) => [`${x(ends[0])},${y(least)}`, ...inner(pick), `${x(ends[1])},${y(most)}`];
  const known = rows.every(({ value }) => value !== null);
  const band = [...curve(({ high }) => high), ...curve(({ low }) => low).reverse()].join(" ");
  const axis = drawn("line", { class: "axis", x1: 8, x2: wide - 8, y1: height - 18, y2: height - 18 });
  const label = (position, anchor) =>
    drawn("text", { x: x(position), y: height - 3, "text-anchor": anchor }, number(position));
  const parts = known
    ? [
        drawn("polygon", { class: "bar", points: band }),
        drawn("polyline", { class: "curve", points: curve(({ value }) => value).join(" ") }),
      ]
    : [];
  const labels = [label(ends[0], "start"), label((ends[0] + ends[1]) / 2, "middle"), label(ends[1], "end")];
  return drawn("svg", { viewBox: `0 0 ${wide} ${height}`, "aria-hidden": "true" }, ...parts, axis, ...labels);
}

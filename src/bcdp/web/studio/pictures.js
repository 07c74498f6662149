/** The trade-off pictures: an error against a number of the policy, drawn as the plans come in. */

import { drawn, element, table } from "../page.js";
import { digits, isShare, own, spanOf } from "./words.js";

const USELESS = 0.1; // of the range to either side: beyond it an interval says little
const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [320, 64, 16, 34, 52];

/** Where two neighbouring points cross a height, as factors; null if they do not. */
function crossing(points, height) {
  for (let place = 1; place < points.length; place += 1) {
    const [[x0, y0], [x1, y1]] = [points[place - 1], points[place]];
    if (y0 > height !== y1 > height) {
      const part = Math.log(height / y0) / Math.log(y1 / y0);
      return { at: x0 * (x1 / x0) ** part, below: y0 > height };
    }
  }
  return null;
}

/**
 * The picture of `points` [x, half width of the 95% interval], both on scales of equal factors.
 *
 * `useless` is the half width beyond which an estimate says little; `now` what the policy states.
 */
export function curvePicture({ points, name, feature, now, useless, width, whole }) {
  const sorted = [...points].filter(([, y]) => y !== null && y > 0).sort(([one], [other]) => one - other);
  if (sorted.length < 2) return element("p", { class: "small" }, "Making plans…");
  const xs = sorted.map(([x]) => x);
  const ys = [...sorted.map(([, y]) => y), useless];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys) / 1.3, Math.max(...ys) * 1.3];
  const x = (value) => LEFT + (Math.log(value / left) / Math.log(right / left)) * (width - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (Math.log(value / low) / Math.log(high / low)) * (HEIGHT - TOP - BOTTOM);
  const text = (place, height, words, anchor = "middle", kind = "") =>
    drawn("text", { x: place, y: height, "text-anchor": anchor, class: kind }, words);
  const falls = sorted[0][1] > sorted.at(-1)[1]; // the words stand where the curve is not
  const parts = [
    ...ticks(left, right).flatMap((at) => [
      drawn("line", { class: "grid", x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM }),
      text(x(at), HEIGHT - BOTTOM + 18, spelled(at)),
    ]),
    ...ticks(low, high).flatMap((at) => [
      drawn("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(at), y2: y(at) }),
      text(LEFT - 6, y(at) + 5, own(feature, at).replace(" points", ""), "end"),
    ]),
    drawn("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: y(useless), y2: y(useless) }),
    text(LEFT + 6, y(useless) + (falls ? 18 : -7), "of little use above this line", "start"),
    drawn("polyline", { class: "curve", points: sorted.map(([a, b]) => `${x(a)},${y(b)}`).join(" ") }),
    ...sorted.map(([a, b]) => drawn("circle", { class: "point", cx: x(a), cy: y(b), r: 4 })),
    text(LEFT - 50, 16, isShare(feature) ? "± of the share, in points" : "± of the estimate, own units", "start"),
    text((LEFT + width - RIGHT) / 2, HEIGHT - 8, name),
  ];
  const crossed = crossing(sorted, useless);
  if (crossed) {
    parts.push(drawn("line", { class: "limit", x1: x(crossed.at), x2: x(crossed.at), y1: TOP, y2: HEIGHT - BOTTOM }));
    parts.push(drawn("circle", { class: "mark", cx: x(crossed.at), cy: y(useless), r: 7 }));
  }
  if (now !== null && now >= left && now <= right) {
    parts.push(drawn("line", { class: "now", x1: x(now), x2: x(now), y1: TOP, y2: HEIGHT - BOTTOM }));
    const end = x(now) > width - 70;
    parts.push(text(x(now) + (end ? -5 : 5), TOP + 12, "now", end ? "end" : "start"));
  }
  const said = crossed
    ? `It becomes of little use ${crossed.below ? "below" : "above"} ${spelled(crossed.at)}.`
    : verdict(sorted, useless);
  const svg = drawn(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${name}. ${said}`, class: "trade" },
    ...parts,
  );
  const rows = sorted.map(([a, b]) => [spelled(a), `± ${own(feature, b)}`]);
  const numbers = element(
    "details",
    { class: "plain" },
    element("summary", {}, "The numbers"),
    table(name, [name, "95% interval"], rows),
  );
  const rest = sorted.length < whole ? ` ${sorted.length} of ${whole} plans made.` : "";
  return element("div", {}, svg, element("p", { class: "said" }, said + rest), numbers);
}

const verdict = (points, useless) =>
  points.every(([, height]) => height > useless) ? "It is of little use all along." : "It is of use all along.";

const spelled = (value) => (value >= 1000 ? Math.round(value).toLocaleString("en") : digits(value));

/** Round numbers between two: 1, 2 and 5 times powers of ten, or powers alone where these are many. */
function ticks(low, high) {
  const found = [];
  const many = Math.log10(high / low) > 2.5;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const step of many ? [1] : [1, 2, 5]) {
      const at = Number((step * 10 ** power).toPrecision(3));
      if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
    }
  }
  return found.length ? found : [Number(((low + high) / 2).toPrecision(2))];
}

/** The half width beyond which a feature's estimates say little: of many values, that of a typical share. */
export const uselessHalf = (feature) =>
  USELESS * (isShare(feature) ? Math.min(1, 10 / (feature.values?.length ?? 2)) : spanOf(feature));

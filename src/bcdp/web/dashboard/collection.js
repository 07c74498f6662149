/** How the collection goes: people and days, waves of a panel, and menus against what chance should draw. */

import { drawn, element, measured, number, table } from "../page.js";
import { stacked, widthOf } from "./cards.js";
import { line, picture, place, WIDTH } from "./pictures.js";

/** How far it is to the people that were planned, and that one stops there and not where it looks good. */
export function shownProgress({ people, planned, precision, features, waiting }) {
  const warning =
    "Decide beforehand how many people to ask, and stop there. To stop when a number looks good makes it look better " +
    "than it is: an interval holds for a number of people that was fixed, not for the moment one likes it.";
  const note = element("p", { class: "small" }, warning);
  if (!planned) return [note];
  const bar = element("progress", { max: planned, value: Math.min(people, planned), "aria-label": "People so far" });
  const share = number(Number(((100 * people) / planned).toPrecision(2)));
  const target = shownPrecision(precision, features, planned);
  if (waiting) return [...target, note];
  return [bar, element("p", {}, `${share}% of the people who were planned.`), ...target, note];
}

/** How wide intervals are and how wide they are to become: the target, which was fixed with the number of people. */
function shownPrecision(precision, features, planned) {
  const width = (value, shares) => (value === null ? "–" : widthOf(value, shares));
  const rows = precision.map(({ name, now, target }) => {
    const { label, type } = features[name];
    return [label, ...[now, target].map((value) => width(value, !["numeric", "ordinal"].includes(type)))];
  });
  const caption =
    `Two standard errors to either side, about a 95% interval. The target is what the plan gives with ` +
    `${planned.toLocaleString("en")} people at worst, for the widest spread of answers.`;
  return [stacked(caption, ["", "Now", "Target"], rows)];
}

/** The days on which enough people more had answered, as this browser has noted them. */
export function shownDays(days) {
  if (!days.length) return [];
  const rows = days.map(([day, count], place) => {
    const more = count - (place ? days[place - 1][1] : 0);
    return [day, count.toLocaleString("en"), more.toLocaleString("en")];
  });
  const caption =
    "The collector keeps no times. This browser has noted, while the page was open, the days on which at least 1,000 " +
    "people more had answered.";
  const told = stacked(caption, ["Day", "People so far", "More than before"], rows);
  return [element("details", { "data-about": "days" }, element("summary", {}, "By day"), told)];
}

/** Each wave with its days, its reports and who did not answer; then the numbers of every wave, with their slopes. */
export function shownWaves({ waves, trends, planned }) {
  const percent = (share) => (share === null ? "–" : `${number(Number((100 * share).toPrecision(3)))}%`);
  const heads = ["Wave", "Days", "State", "Reports", ...(planned ? ["Expected", "No answer"] : [])];
  const rows = waves.map(({ wave, first, last, state, people, expected, nonresponse }) => [
    `Wave ${wave}`,
    first === last ? first : `${first} to ${last}`,
    state,
    people.toLocaleString("en"),
    ...(planned ? [number(Math.round(expected)), percent(nonresponse)] : []),
  ]);
  const parts = [element("h2", {}, "Waves"), stacked("Each person is asked in one wave, by chance.", heads, rows)];
  if (!trends.length) return parts;
  const value = (told) => (told && told.value !== null ? measured(told.value, told.se) : "–");
  const numbers = trends.map(({ label, waves: told, slope }) => [
    label,
    ...waves.map(({ wave }) => value(told.find((each) => each.wave === wave))),
    value(slope),
    slope.low === null ? "–" : `${measured(slope.low, slope.se)} to ${measured(slope.high, slope.se)}`,
  ]);
  const named = ["", ...waves.map(({ wave }) => `${wave}`), "Slope", "95% interval"];
  return [...parts, element("h2", {}, "Every wave"), table("The slope is for one wave more.", named, numbers)];
}

export function shownMenus(menus, people) {
  const most = Math.max(...menus.map(({ expected, count }) => Math.max(expected, count / Math.max(people, 1))));
  const rows = menus.map(({ expected, count, asks }) => [
    asks.join(", "),
    menuPicture(count / Math.max(people, 1), expected, [0, most]),
    count.toLocaleString("en"),
    number(expected * people),
  ]);
  const caption = "Bars: drawn. Marks: expected.";
  return [element("h2", {}, "Answers by menu"), stacked(caption, ["", "Picture", "Drawn", "Expected"], rows)];
}

function menuPicture(share, expected, range) {
  const mark = place(expected, range);
  const width = place(share, range) - place(0, range);
  return picture(
    line("axis", 8, WIDTH - 8),
    drawn("rect", { class: "bar", x: place(0, range), y: 4, width, height: 16 }),
    drawn("line", { class: "expected", x1: mark, x2: mark, y1: 1, y2: 23 }),
  );
}

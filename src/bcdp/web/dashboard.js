/** The dashboard: estimates with their intervals, menus against expectation, and the certificate, live. */

import { asCsv, asPicture, save } from "./downloads.js";
import { remembered } from "./history.js";
import { drawn, element, measured, number, promised, say, table } from "./page.js";

const SECONDS = 5;
const WIDTH = 300;
const MOST = 12; // rows of a section that are shown at once
const $ = (id) => document.getElementById(id);

let timer;
let latest = null; // what is shown

$("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  const token = $("token").value;
  $("token").value = "";
  poll(token);
});

const given = new URLSearchParams(location.hash.slice(1)).get("token"); // no server is sent what stands behind #
if (given) {
  history.replaceState(null, "", location.pathname);
  poll(given);
}

/** Shows the results now and again every few seconds; the token lives in this call and nowhere else. */
async function poll(token) {
  let goOn = true;
  if (!document.hidden || $("results").hidden) goOn = await update(token);
  if (goOn) timer = setTimeout(poll, SECONDS * 1000, token);
}

async function update(token) {
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch("v1/estimates", { headers, cache: "no-store" });
    if (response.status === 401 || response.status === 403) {
      $("results").hidden = true;
      $("entry").hidden = false;
      say($("status"), "This is not the operator's token.", "bad");
      $("token").focus();
      return false;
    }
    if (!response.ok) throw new Error(`status ${response.status}`);
    show(await response.json());
  } catch (error) {
    say($("status"), `The results could not be read (${error.message}). Trying again every ${SECONDS} seconds.`, "bad");
  }
  return true;
}

for (const [id, name, made, type] of [
  ["save-csv", "estimates.csv", ({ sections }) => asCsv(sections), "text/csv"],
  ["save-json", "estimates.json", (found) => JSON.stringify(found, null, 1), "application/json"],
  [
    "save-picture",
    "estimates.svg",
    ({ sections, title }) => asPicture(sections, title ?? "Estimates"),
    "image/svg+xml",
  ],
]) {
  $(id).addEventListener("click", () => save(name, made(latest), type));
}

/** Shows what has changed, and nothing else: who reads is not disturbed while nothing new came. */
function show(found) {
  $("updated").textContent = new Date().toLocaleTimeString("en", { hour12: false });
  announce(found); // also after a request that failed
  if (latest && JSON.stringify(latest) === JSON.stringify(found)) return;
  const open = new Set([...document.querySelectorAll("details[open]")].map((node) => node.dataset.about));
  latest = found;
  showAnew(found);
  for (const node of document.querySelectorAll("details[data-about]")) node.open = open.has(node.dataset.about);
}

function showAnew(found) {
  const { people, estimates, note, sections, menus, certificate, epsilon, promises, operator_says: said } = found;
  $("entry").hidden = true;
  $("people").textContent = found.waiting ? "–" : people.toLocaleString("en");
  $("planned").textContent = found.planned ? ` of ${found.planned.toLocaleString("en")} planned` : "";
  $("progress").replaceChildren(...shownProgress(found), ...shownDays(remembered(storage(), found.plan, people)));
  $("estimates").replaceChildren(...(found.waiting ? [] : shownEstimates(sections, estimates.level)));
  $("estimates").append(
    ...[note, refreshed(found)].filter(Boolean).map((text) => element("p", { class: "small" }, text)),
  );
  $("waves").replaceChildren(...(found.waves ? shownWaves(found) : []));
  $("menus").replaceChildren(...(found.waiting ? [] : shownMenus(menus, people)));
  $("certificate").replaceChildren(...shownCertificate(certificate, epsilon, promises, said), ...shownCounts(found));
  $("results").hidden = false;
}

/** This browser's storage; a browser that blocks it has none. */
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

const refreshed = ({ refresh }) =>
  `New results come after at least ${refresh.toLocaleString("en")} people more, with the digits that their errors support: ` +
  "two that are closer would show what single people answered.";

function announce({ checks, waiting, refresh }) {
  if (waiting) {
    say($("status"), `Results are shown when at least ${refresh.toLocaleString("en")} people more have answered.`);
    return;
  }
  say($("status"), checks.said, checks.alarm ? "bad" : "good");
  $("fakes").textContent = checks.fakes;
}

/** How far it is to the people that were planned, and that one stops there and not where it looks good. */
function shownProgress({ people, planned, precision, features, waiting }) {
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
  const width = (value, shares) => {
    if (value === null) return "–";
    const two = Number((shares ? 100 * value : value).toPrecision(2));
    return `± ${number(two)}${shares ? " points" : ""}`;
  };
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
function shownDays(days) {
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

// ----------------------------------------------------------------------------------------------------------- estimates

/** Each section of the estimates as a table; what it is about stands in its words, not here. */
function shownEstimates(sections, confidence) {
  const percent = `${number(confidence * 100)}%`;
  return [element("h2", {}, "Estimates"), ...sections.map((section) => shownSection(section, percent))];
}

function shownSection(section, percent) {
  const { subject, heads, drawn: kind, interval, remarks, note } = section;
  const rows = section.rows.filter(({ name }) => section.told.includes(name));
  const counted = rows.some(({ answers }) => answers !== null);
  const pictured = rows.every(({ possible }) => !possible.includes(null));
  const words = [subject, note, ...remarks].filter(Boolean).map((sentence) => sentence.replace(/[^.?!]$/, "$&."));
  const header = ["", ...(pictured ? ["Picture"] : []), capital(heads[1]), `${percent} interval${interval}`];
  const cells = rows.map(({ name, label, value, se, low, high, answers, possible }) => {
    const drawing = pictured ? [(kind === "bars" ? barPicture : pointPicture)(value, low, high, possible)] : [];
    const count = counted ? [answers.toLocaleString("en")] : [];
    const between = `${measured(low, se)} to ${measured(high, se)}`;
    return [kind === "bars" ? name : label, ...drawing, measured(value, se), between, ...count];
  });
  const columns = counted ? [...header, "Answers"] : header;
  const order = kind === "bars" ? largest(rows) : [...rows.keys()];
  const told = folded(subject, cells, order, (part, more) =>
    stacked([...words, more].filter(Boolean).join(" "), columns, part),
  );
  const above = { curve: curvePicture, grid: gridPicture }[kind];
  return above ? element("div", { class: "pictured" }, above(section), told) : told;
}

/** A long section: some rows, those that come first in an order, and all behind a word; a short one as it is. */
function folded(about, cells, order, made) {
  if (cells.length <= MOST + 2) return made(cells, "");
  const some = order.slice(0, MOST).sort((one, other) => one - other);
  const summary = element("summary", {}, `All ${cells.length} of ${about}`);
  const all = element("details", { "data-about": about }, summary, made(cells, "All of them."));
  return element(
    "div",
    { class: "folded" },
    made(
      some.map((place) => cells[place]),
      `${MOST} of ${cells.length}.`,
    ),
    all,
  );
}

/** The places of the rows, the largest value first. */
const largest = (rows) => [...rows.keys()].sort((one, other) => rows[other].value - rows[one].value);

const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);

function stacked(caption, header, rows) {
  const node = table(caption, header, rows);
  node.className = "stacked";
  for (const picture of node.querySelectorAll("svg")) picture.parentElement.className = "picture";
  return node;
}

const place = (value, [low, high]) => 8 + ((value - low) / (high - low)) * (WIDTH - 16);
const line = (kind, x1, x2) => drawn("line", { class: kind, x1, x2, y1: 12, y2: 12 });

/** A picture that says nothing to a screen reader: the numbers are in the text. */
const picture = (...parts) => drawn("svg", { viewBox: `0 0 ${WIDTH} 24`, "aria-hidden": "true" }, ...parts);

function pointPicture(value, low, high, range) {
  const parts = [line("axis", 8, WIDTH - 8)];
  if (value !== null) {
    parts.push(line("interval", place(low, range), place(high, range)));
    parts.push(drawn("circle", { class: "point", cx: place(value, range), cy: 12, r: 6 }));
  }
  return picture(...parts);
}

/** The cells of a table, darker for more, with their intervals where there is room; the table says the same. */
function gridPicture({ rows, grid: [names, columns] }) {
  const [left, top, high, wide] = [120, 28, 46, 3 * WIDTH];
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
function curvePicture({ rows, places, ends }) {
  const [height, wide] = [280, 3 * WIDTH];
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

function barPicture(value, low, high, range) {
  const parts = [line("axis", 8, WIDTH - 8)];
  if (value !== null) {
    const width = place(value, range) - place(0, range);
    parts.push(drawn("rect", { class: "bar", x: place(0, range), y: 4, width, height: 16 }));
    parts.push(line("interval", place(low, range), place(high, range)));
  }
  return picture(...parts);
}

// ------------------------------------------------------------------------------------------------------ waves of a panel

/** Each wave with its days, its reports and who did not answer; then the numbers of every wave, with their slopes. */
function shownWaves({ waves, trends, planned }) {
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

// ----------------------------------------------------------------------------------------------- menus and certificate

function shownMenus(menus, people) {
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

function shownCertificate({ features: claims, epsilon, optimality_gap: gap }, allowed, promises, said) {
  const whole = { asked: allowed, certified: epsilon, c: null };
  const rows = promises.map(({ name, label }) => {
    const { asked, certified, c } = name === null ? whole : claims[name];
    return [label, number(asked), number(certified), number(c)];
  });
  const best = gap
    ? ` For the same total error the plan needs at most ${number(gap)} times the people that the best plan without ` +
      "jointly shaped tables needs."
    : "";
  const caption =
    "Levels, recomputed by every device before it answers: on the condition above, a level d lets odds rise e^d times. " +
    `c is the level against somebody who knows all the other answers already.${best}`;
  const levels = stacked(caption, ["A guess about", "Asked", "Certified", "c"], rows);
  return [element("h2", {}, "Certificate"), ...promised(promises, said), levels];
}

/** What the counts alone tell, if they are published once; nothing is said of few people. */
function shownCounts({ counts, counts_said: said, people }) {
  if (!counts.length) return [];
  const seen = `the counts of these ${people.toLocaleString("en")} people`;
  const caption = `By how much whoever sees only ${seen} can raise the odds of a guess about one of them.`;
  const rows = counts.map(({ label, told, condition }) => [label, told, condition]);
  const node = table(caption, ["A guess about", "Its odds rise", "On condition"], rows);
  node.className = "stacked promises";
  return [element("h2", {}, "If only the counts are published"), node, element("p", { class: "small" }, said)];
}

/** The dashboard: estimates with their intervals, menus against expectation, and the certificate, live. */

import { FALSE_ALARMS, drift } from "./drift.js";
import { oddsOf } from "./bcdp.js";
import { drawn, element, factor, number, say, table } from "./page.js";

const SECONDS = 5;
const WIDTH = 300;
const $ = (id) => document.getElementById(id);

let timer;

$("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  const token = $("token").value;
  $("token").value = "";
  poll(token);
});

/** Shows the results now and again every few seconds; the token lives in this call and nowhere else. */
async function poll(token) {
  let goOn = true;
  if (!document.hidden || $("results").hidden) goOn = await update(token);
  if (goOn) timer = setTimeout(poll, SECONDS * 1000, token);
}

async function update(token) {
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch("/v1/estimates", { headers, cache: "no-store" });
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

function show({ people, estimates, menus, certificate, features, epsilon }) {
  $("entry").hidden = true;
  $("people").textContent = people.toLocaleString("en");
  $("updated").textContent = new Date().toLocaleTimeString("en", { hour12: false });
  $("estimates").replaceChildren(...shownEstimates(estimates, features));
  $("menus").replaceChildren(...shownMenus(menus));
  $("certificate").replaceChildren(...shownCertificate(certificate, features, epsilon));
  $("results").hidden = false;
  announce(drift(menus));
}

function announce(test) {
  const rate = `A false alarm has a chance of at most one in ${(1 / FALSE_ALARMS).toLocaleString("en")} at each look.`;
  if (test?.alarm) {
    say($("status"), `Alarm: devices do not draw menus as the plan says. Do not trust these estimates. ${rate}`, "bad");
  } else if (test) say($("status"), "Devices draw menus as the plan says.", "good");
  else say($("status"), "Too few answers so far to tell whether devices draw menus as the plan says.");
}

// ----------------------------------------------------------------------------------------------------------- estimates

const labelOf = (features, name) => features[name]?.label || name;

function shownEstimates({ level, means, frequencies, regression, regressions }, features) {
  const percent = `${number(level * 100)}%`;
  const header = ["", "Picture", "Estimate", `${percent} interval`, "Answers"];
  const parts = [element("h2", {}, "Estimates")];
  const meanRows = Object.entries(means ?? {}).map(([name, mean]) => {
    const { bounds = [0, 1] } = features[name] ?? {};
    return rowOf(labelOf(features, name), mean, bounds, pointPicture);
  });
  const caption = "Means, in the features' own units; of two values, the share of the second. Lines span the range.";
  if (meanRows.length) parts.push(stacked(caption, header, meanRows));
  for (const [name, shares] of Object.entries(frequencies ?? {})) {
    const rows = Object.entries(shares).map(([value, share]) => rowOf(value, share, [0, 1], barPicture));
    parts.push(stacked(`How often: ${labelOf(features, name)}`, header, rows));
  }
  for (const found of regressions ?? [regression ?? []].flat()) parts.push(shownRegression(found, features, percent));
  return parts;
}

function rowOf(label, { value, low, high, answers }, range, picture) {
  const cells = [label, picture(value, low, high, range), number(value), `${number(low)} to ${number(high)}`];
  return answers === undefined ? cells : [...cells, answers.toLocaleString("en")];
}

function shownRegression({ target, intercept, coefficients, explained, remark }, features, percent) {
  const found = [["Intercept", intercept], ...Object.entries(coefficients), ["Share of the variance", explained]];
  const rows = found.map(([name, { value, low, high }]) => {
    return [labelOf(features, name), number(value), `${number(low)} to ${number(high)}`];
  });
  const caption = `Regression of ${labelOf(features, target)}. ${remark}`;
  return stacked(caption, ["", "Coefficient", `${percent} interval`], rows);
}

function stacked(caption, header, rows) {
  const node = table(caption, header, rows);
  node.className = "stacked";
  for (const picture of node.querySelectorAll("svg")) picture.parentElement.className = "picture";
  return node;
}

const place = (value, [low, high]) => 8 + ((value - low) / (high - low)) * (WIDTH - 16);
const line = (kind, x1, x2) => drawn("line", { class: kind, x1, x2, y1: 12, y2: 12 });

/** A picture that says nothing to a screen reader: the numbers stand beside it. */
const picture = (...parts) => drawn("svg", { viewBox: `0 0 ${WIDTH} 24`, "aria-hidden": "true" }, ...parts);

function pointPicture(value, low, high, range) {
  const parts = [line("axis", 8, WIDTH - 8)];
  if (value !== null) {
    parts.push(line("interval", place(low, range), place(high, range)));
    parts.push(drawn("circle", { class: "point", cx: place(value, range), cy: 12, r: 6 }));
  }
  return picture(...parts);
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

// ----------------------------------------------------------------------------------------------- menus and certificate

function shownMenus(menus) {
  const people = menus.reduce((total, { count }) => total + count, 0);
  const test = drift(menus);
  const most = Math.max(...menus.map(({ expected, count }) => Math.max(expected, count / Math.max(people, 1))));
  const rows = menus.map(({ expected, count, asks }) => [
    asks.join(", "),
    menuPicture(count / Math.max(people, 1), expected, [0, most]),
    count.toLocaleString("en"),
    number(expected * people),
  ]);
  const verdict = test
    ? `Chi-square ${number(test.statistic)}, ${test.degrees} degrees of freedom; alarm above ${number(test.limit)}.`
    : "The test starts when two menus can each expect ten answers.";
  const caption = `Bars: drawn. Marks: expected. ${verdict}`;
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

function shownCertificate({ epsilon, features: claims, optimality_gap: gap }, features, allowed) {
  const rows = Object.entries(features).map(([name, { label }]) => {
    const { asked, certified, c } = claims[name];
    return [label, number(asked), number(certified), number(c), factor(oddsOf(certified))];
  });
  rows.push(["The whole record", number(allowed), number(epsilon), "–", factor(oddsOf(epsilon))]);
  const best = gap ? ` The plan's error is at most ${number(gap)} times the least possible without shaped tables.` : "";
  const caption =
    "Levels, recomputed by every device before it answers: a level d lets odds rise e^d times. c is the level against " +
    `somebody who knows all the other answers already.${best}`;
  const header = ["A guess about", "Asked", "Certified", "c", "Odds rise at most"];
  return [element("h2", {}, "Certificate"), stacked(caption, header, rows)];
}

/** The dashboard: estimates with their intervals, menus against expectation, and the certificate, live. */

import { shownCertificate, shownCounts } from "./dashboard/certificate.js";
import { questionCards } from "./dashboard/cards.js";
import { shownDays, shownMenus, shownProgress, shownWaves } from "./dashboard/collection.js";
import { tabsIn } from "./dashboard/tabs.js";
import { asCsv, asPicture, save } from "./downloads.js";
import { remembered } from "./history.js";
import { element, say } from "./page.js";

const SECONDS = 5;
const TABS = [
  ["results", "Results"],
  ["progress", "Progress"],
  ["checks", "Checks"],
  ["certificate", "Certificate"],
];
const $ = (id) => document.getElementById(id);

/** All that the page shows: the document of the collector, what went wrong since, and which tab is open. */
const state = { found: null, updated: "", problem: null, tab: "results" };

let timer;
let rendered = null; // the document that stands on the page

const showTab = tabsIn($("tabs"), TABS, (tab) => change({ tab }));

/** The one way to change what is shown. */
function change(changes) {
  Object.assign(state, changes);
  render();
}

function render() {
  const { found, problem, updated, tab } = state;
  $("results").hidden = $("figures").hidden = !found;
  $("entry").hidden = Boolean(found);
  showTab(tab);
  $("updated").textContent = updated;
  if (problem) say($("status"), problem, "bad");
  else if (found) announce(found);
  if (found && JSON.stringify(found) !== rendered) renderDocument(found); // who reads is not disturbed by nothing new
}

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
  if (!document.hidden || !state.found) goOn = await update(token);
  if (goOn) timer = setTimeout(poll, SECONDS * 1000, token);
}

async function update(token) {
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch("v1/estimates", { headers, cache: "no-store" });
    if (response.status === 401 || response.status === 403) {
      rendered = null;
      change({ found: null, problem: "This is not the operator's token." });
      $("token").focus();
      return false;
    }
    if (!response.ok) throw new Error(`status ${response.status}`);
    const found = await response.json();
    change({ found, problem: null, updated: new Date().toLocaleTimeString("en", { hour12: false }) });
  } catch (error) {
    const problem = `The results could not be read (${error.message}). Trying again every ${SECONDS} seconds.`;
    change({ problem });
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
  $(id).addEventListener("click", () => save(name, made(state.found), type));
}

function renderDocument(found) {
  rendered = JSON.stringify(found);
  const open = new Set([...document.querySelectorAll("details[open]")].map((node) => node.dataset.about));
  const { people, note, menus, waiting } = found;
  const title = found.title ?? "Collection dashboard";
  $("title").textContent = title;
  $("people").textContent = waiting ? "–" : people.toLocaleString("en");
  $("planned").textContent = found.planned ? ` of ${found.planned.toLocaleString("en")} planned` : "";
  const notes = [note, refreshed(found)].filter(Boolean).map((text) => element("p", { class: "small" }, text));
  $("estimates").replaceChildren(...(waiting ? [] : questionCards(found)), ...notes);
  $("waves").replaceChildren(...(found.waves ? shownWaves(found) : []));
  $("progress").replaceChildren(...shownProgress(found), ...shownDays(remembered(storage(), found.plan, people)));
  $("checks").replaceChildren(...[found.checks.said, found.checks.fakes].map((text) => element("p", {}, text)));
  $("menus").replaceChildren(...(waiting ? [] : shownMenus(menus, people)));
  $("certificate").replaceChildren(...shownCertificate(found), ...shownCounts(found));
  for (const node of document.querySelectorAll("details[data-about]")) node.open = open.has(node.dataset.about);
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
  const wait = `Results are shown when at least ${refresh.toLocaleString("en")} people more have answered.`;
  if (waiting) say($("status"), wait);
  else say($("status"), checks.said, checks.alarm ? "bad" : "good");
}

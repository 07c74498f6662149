/** The studio: a policy is edited, planned in the background, and shown with what it costs. */

import { element, say } from "./page.js";
import { Refused, ask, askOfFile, cease, follow } from "./studio/api.js";
import { markProblems, shownFeatures, shownNumbers, shownSurvey } from "./studio/editor.js";
import { showCommands, wireOut } from "./studio/out.js";
import { added, deltaOf, protectedNames } from "./studio/policy.js";
import { curvePicture, uselessHalf } from "./studio/pictures.js";
import * as draft from "./studio/draft.js";
import { BLANK, followText } from "./studio/text.js";
import { shownTasks } from "./studio/tasks.js";
import { shownCounts, shownFakes, shownLearned, shownMenus, shownPromises, shownTrust } from "./studio/results.js";

const $ = (id) => document.getElementById(id);
const state = {
  policy: null,
  people: 10_000,
  plan: null,
  numbers: null,
  checked: null,
  wrong: null,
  past: [],
  given: null,
};

// --------------------------------------------------------------------------------------------------------------- start

async function start() {
  const { templates, policy } = await ask("start");
  state.given = policy;
  const buttons = templates.map(({ title, people, policy: document }) => {
    const node = element("button", { type: "button", class: "quiet" }, title);
    node.addEventListener("click", () => begin(document, people));
    return node;
  });
  $("templates").replaceChildren(...buttons);
  const kept = draft.read(policy);
  if (kept) begin(kept.policy, kept.people);
  else if (policy) begin(policy, state.people);
}

/** Starts from a policy; what was there before can be had back. */
function begin(policy, people) {
  remember();
  state.policy = structuredClone(policy);
  state.people = people ?? state.people;
  $("work").hidden = false;
  $("start").open = false;
  $("start-title").textContent = "Start anew";
  $("measured").hidden = true;
  draw();
  replan();
}

/** A file of records gives its columns, a policy is taken as it is. */
async function opened(file) {
  try {
    if (/\.ya?ml$/i.test(file.name)) begin((await askOfFile("policy", file)).policy);
    else {
      const { policy, people, missing } = await askOfFile("columns", file);
      begin(policy, Math.max(people, 100));
      const lacking = Object.keys(missing).length ? ` Some have no value: ${Object.keys(missing).join(", ")}.` : "";
      say(
        $("status"),
        `${people.toLocaleString("en")} records; only their columns were taken.${lacking} Please fill in what is marked.`,
      );
    }
  } catch (error) {
    failed(error);
  }
}

$("blank").addEventListener("click", () => begin(BLANK, state.people));
const showText = followText($, state, begin);

$("file").addEventListener("change", () => $("file").files[0] && opened($("file").files[0]));
for (const kind of ["dragover", "drop"]) {
  document.addEventListener(kind, (event) => event.preventDefault()); // a file beside the field is not opened instead
}
$("drop").addEventListener("drop", (event) => event.dataTransfer.files[0] && opened(event.dataTransfer.files[0]));

// ---------------------------------------------------------------------------------------------------------------- edit

function remember() {
  if (state.policy) state.past.push({ policy: state.policy, people: state.people });
  $("undo").disabled = state.past.length === 0;
}

/** Takes a change of the policy, a function of what it is now; `anew` if the fields have to be drawn again. */
function change(changed, anew = false) {
  const policy = changed(state.policy);
  if (JSON.stringify(policy) === JSON.stringify(state.policy)) return;
  remember();
  state.policy = policy;
  if (anew) draw();
  replan();
}

function changePeople(people, released) {
  if (released && people !== state.settled) {
    state.past.push({ policy: state.policy, people: state.settled ?? people });
    $("undo").disabled = false;
  }
  state.people = people;
  if (released) {
    state.settled = people;
    keep();
  }
  if (state.numbers) showLearned(); // at once; the planner's own numbers follow
  if (released && state.plan) renumber();
}

$("undo").addEventListener("click", () => {
  const before = state.past.pop();
  if (!before) return;
  Object.assign(state, before);
  $("undo").disabled = state.past.length === 0;
  draw();
  replan();
});
$("add").addEventListener("click", () => change(added, true));

/** Keeps what is edited in this tab, so that it is there again after a reload. */
const keep = () => draft.write(state.given, { policy: state.policy, people: state.people });

/** Draws the fields again; who was in one of them stays there. */
function draw() {
  const at = document.activeElement?.getAttribute("aria-label");
  state.settled = state.people;
  $("features").replaceChildren(...shownFeatures(state.policy, change));
  $("numbers").replaceChildren(...shownNumbers(state.policy, state.people, change, changePeople, sampled));
  $("tasks").replaceChildren(...shownTasks(state.policy, change));
  $("survey").replaceChildren(...shownSurvey(state.policy, change));
  if (at)
    [...document.querySelectorAll("[aria-label]")].find((node) => node.getAttribute("aria-label") === at)?.focus();
}

/** Takes the correlation from a sample. */
async function sampled(file) {
  say($("status"), "Measuring how features go together…");
  try {
    const { stated, people } = await askOfFile("correlate", file, { policy: state.policy });
    change((now) => ({ ...now, correlation: Object.keys(stated).length ? stated : 1 }), true);
    say($("measured"), measuredSentence(stated, people));
  } catch (error) {
    failed(error);
  }
}

/** What was found out about how features go together; a prior has no records. */
function measuredSentence(stated, people) {
  if (people !== null) {
    const records = people.toLocaleString("en");
    return Object.keys(stated).length
      ? `Measured on ${records} records: these q and odds hold there, features that are not named have no limit.`
      : `No number for all other features together holds in these ${records} records, so nothing is assumed. A policy file that names the sample keeps more: correlation: {pilot: FILE}.`;
  }
  return Object.keys(stated).length
    ? "Taken from the table: q and odds of each feature given all others, rounded up. They hold where the table is right."
    : "The table says nothing of each feature given all others: it needs a column for every feature.";
}

// ---------------------------------------------------------------------------------------------------------------- plan

function failed(error) {
  const problems = error instanceof Refused ? error.problems : [{ path: [], sentence: error.message }];
  const rest = markProblems($("work"), problems);
  $("problems").replaceChildren(
    ...rest.map(({ path, sentence }) =>
      element("p", { class: "note bad" }, `${path.length ? `${path.join(".")}: ` : ""}${sentence}`),
    ),
  );
  say(
    $("status"),
    problems.length > 1 ? `${problems.length} things need another look.` : "One thing needs another look.",
    "bad",
  );
  document.body.dataset.state = "refused";
}

async function replan() {
  keep();
  showText();
  cease("curve");
  cease("ways");
  cease("trust");
  $("choices").replaceChildren();
  document.body.dataset.state = "planning";
  $("out").hidden = true;
  for (const id of ["learned", "promises", "menus", "counts", "fakes", "tradeoffs"]) $(id).classList.add("stale");
  say($("status"), "Making the plan…");
  const policy = state.policy;
  try {
    const whole = await follow("plan", { policy, people: state.people }, (part) => {
      if (part.progress) say($("status"), `Making the plan: ${part.progress}`);
      if (part.plan) planMade(policy, part);
      if (part.numbers) numbersCame(part.numbers);
    });
    if (whole) settle();
  } catch (error) {
    failed(error);
  }
}

function planMade(policy, { plan, errors, people }) {
  markProblems($("work"), []);
  $("problems").replaceChildren();
  const features = Object.fromEntries(Object.entries(errors).map(([name, error]) => [name, { standard_error: error }]));
  Object.assign(state, { plan, numbers: { users: people, features }, checked: null, wrong: null });
  showLearned();
  verify(plan);
  say($("status"), "The plan is made; comparing it…");
}

function numbersCame(numbers) {
  state.numbers = numbers;
  showLearned();
  show("counts", shownCounts(numbers));
  show("fakes", shownFakes(state.policy, numbers));
}

/** Whom to trust, as a choice: the planner makes a plan for each, on demand. */
async function compareTrust() {
  try {
    say($("choices"), "Computing…");
    await follow("trust", { policy: state.policy, people: state.people }, ({ choices, names }) => {
      if (choices) $("choices").replaceChildren(...shownTrust(choices, names, state.people));
      $("choices").className = "";
    });
  } catch (error) {
    failed(error);
  }
}

function settle() {
  $("out").hidden = $("trust").hidden = state.wrong !== null;
  if (state.wrong) return;
  say($("status"), "The plan is made, and this browser checks what it promises.");
  showCommands(state).catch(failed);
  if (state.checked) verified();
  drawCurve();
}

/** The numbers for other people: those of the planner take the place of the scaled ones. */
async function renumber() {
  document.body.dataset.state = "planning";
  try {
    const whole = await follow("numbers", { plan: state.plan, people: state.people }, ({ numbers }) =>
      numbersCame(numbers),
    );
    if (whole) settle();
  } catch (error) {
    failed(error);
  }
}

function show(id, nodes) {
  $(id).replaceChildren(...nodes);
  $(id).classList.remove("stale");
}

const showLearned = () => show("learned", shownLearned(state.policy, state.numbers, state.people, advise));

async function advise(name, list) {
  try {
    list.replaceChildren(element("li", {}, "Computing…"));
    let first = true;
    await follow("ways", { policy: state.policy, people: state.people, feature: name }, ({ way }) => {
      if (first) list.replaceChildren();
      first = false;
      list.append(element("li", {}, way));
    });
  } catch (error) {
    failed(error);
  }
}

// -------------------------------------------------------------------------------------------------------------- verify

let checker = null;

/** Has the promises computed in a worker of this browser; a plan that is stale by then is not shown. */
function verify(text) {
  checker?.terminate();
  checker = new Worker("studio/checker.js", { type: "module" });
  checker.onmessage = ({ data: { done, failed: wrong } }) => {
    if (text !== state.plan) return;
    if (wrong) {
      state.wrong = wrong;
      say($("status"), `This browser does not confirm what the plan claims: ${wrong.message}`, "bad");
      for (const id of ["promises", "menus"]) $(id).replaceChildren();
      $("out").hidden = true;
      return;
    }
    state.checked = done;
    show("promises", shownPromises(state.policy, done));
    show("menus", shownMenus(state.policy, done));
    if (!$("out").hidden) verified();
  };
  checker.onerror = () => say($("status"), "A part of this page did not arrive.", "bad");
  checker.postMessage({ text });
}

function verified() {
  say($("status"), "The plan is made, and this browser has computed its promises again.", "good");
  document.body.dataset.state = "ready";
}

// -------------------------------------------------------------------------------------------------------------- curves

const AXES = {
  delta: (label) => `delta of ${label}`,
  odds: () => "odds that are assumed",
  q: () => "q that is assumed",
  people: () => "people",
};

function chosen() {
  const names = protectedNames(state.policy);
  const feature = names.includes($("curve-feature").value) ? $("curve-feature").value : names[0];
  return { feature, axis: $("curve-axis").value || "delta" };
}

function drawCurve() {
  const { policy } = state;
  const { feature, axis } = chosen();
  const options = (entries, selected) =>
    entries.map(([value, text]) => element("option", value === selected ? { value, selected: "" } : { value }, text));
  $("curve-feature").replaceChildren(
    ...options(
      protectedNames(policy).map((name) => [name, name]),
      feature,
    ),
  );
  $("curve-axis").replaceChildren(
    ...options(
      Object.keys(AXES).map((key) => [
        key,
        { delta: "its protection (delta)", odds: "odds", q: "q", people: "people" }[key],
      ]),
      axis,
    ),
  );
  $("tradeoffs").hidden = false;
  followCurve(feature, axis).catch(failed);
}

async function followCurve(feature, axis) {
  const { policy, people } = state;
  const points = [];
  const stated = policy.correlation ?? 1;
  const now = {
    delta: deltaOf(policy, feature),
    odds: stated.odds ?? null,
    people,
    q: stated.q ?? (typeof stated === "number" ? stated : null),
  }[axis];
  const paint = (whole) => {
    const width = Math.max(320, Math.min(760, $("curve").clientWidth || 640));
    const name = AXES[axis](feature);
    const found = curvePicture({
      points,
      name,
      feature: policy.features[feature],
      now,
      useless: uselessHalf(policy.features[feature]),
      width,
      whole,
    });
    show("curve", [found]);
    $("tradeoffs").classList.remove("stale");
  };
  if (axis === "people") {
    const { standard_error: error } = state.numbers.features[feature];
    for (let place = 0; place <= 8; place += 1) {
      const count = 100 * 10 ** ((5 * place) / 8);
      points.push([count, error === null ? null : 2 * error * Math.sqrt(state.numbers.users / count)]);
    }
    cease("curve");
    paint(points.length);
    return;
  }
  const { standard_error: stands } = state.numbers.features[feature];
  if (now !== null && stands !== null) points.push([now, 2 * stands]); // the plan that is made already
  const known = points.length;
  paint(9 + known);
  await follow("curve", { policy, people, axis, feature }, ({ at, errors, of }) => {
    points.push([at, errors[feature] === null ? null : 2 * errors[feature]]);
    paint(of + known);
  });
}

for (const id of ["curve-feature", "curve-axis"]) $(id).addEventListener("change", drawCurve);
$("compare-trust").addEventListener("click", compareTrust);

wireOut(state, failed);
start().catch(failed);

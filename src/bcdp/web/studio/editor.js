/** What is asked and how well it is protected: the fields of a policy, each with its problem beside it. */

import { element } from "../page.js";
import { words as english } from "../words/en.js";
import { FILL, button, chooser, field, slider } from "./fields.js";
import { assumed, deltaOf, levelAt, placeOf, removed, renamed, retyped, withKey, withOwn } from "./policy.js";
import { listRead, listWritten } from "./lists.js";
import { levelSentence, oddsSentence, qSentence } from "./words.js";

const TYPES = {
  binary: "yes or no",
  numeric: "a number",
  categorical: "one of a list",
  ordinal: "one of an ordered scale",
  open: "open",
};
const numeral = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text.trim() || FILL);

// ------------------------------------------------------------------------------------------------------------ features

/** The features as a table; `change(policy, anew)` takes a new policy, `anew` if the fields are to be drawn again. */
export function shownFeatures(policy, change) {
  const rows = Object.keys(policy.features).map((name, place) => featureRow(policy, name, place + 1, change));
  const heads = [
    "Name",
    "What people are asked",
    "Answer",
    "Values or bounds",
    "Protection (delta), more to the right",
    "",
  ];
  const head = element(
    "tr",
    {},
    ...heads.map((text) => element(text ? "th" : "td", text ? { scope: "col" } : {}, text)),
  );
  const table = element("table", { class: "features" }, element("thead", {}, head), element("tbody", {}, ...rows));
  return [table];
}

function featureRow(policy, name, place, change) {
  const feature = policy.features[name];
  const path = (...keys) => ["features", name, ...keys];
  const set = (key, value) => change((now) => withKey(now, name, key, value));
  const cells = [
    [
      field(path(), `Name of feature ${place}`, name, (text) => change((now) => renamed(now, name, text.trim()), true)),
      "Name",
    ],
    [
      field(path("label"), `Words of feature ${place}`, feature.label ?? "", (text) => set("label", text || undefined)),
      "Question",
    ],
    [
      chooser(`Kind of feature ${place}`, TYPES, feature.type, (type) =>
        change((now) => retyped(now, name, type), true),
      ),
      "Answer",
    ],
    [possible(feature, path, set, place), "Possible answers"],
    feature.type === "open"
      ? [element("p", { class: "hint" }, english.openField), "Protection"]
      : [protection(policy, name, path, set), "Protection, more to the right"],
    [button("×", () => change((now) => removed(now, name), true), { "aria-label": `Remove ${name}` }), ""],
  ];
  return element("tr", {}, ...cells.map(([cell, label]) => element("td", { "data-label": label }, cell)));
}

/** The slider of a feature's delta; what is open has none. */
function protection(policy, name, path, set) {
  const most = policy.epsilon;
  const own = (at) => (at <= 0 ? undefined : levelAt(100 - at, most)); // to the right the level falls
  const resting = (level) => (level < most ? ", if your assumption below holds" : "");
  const sentence = (level) => `${level}: ${levelSentence(level)}${resting(level)}`;
  return slider(path("delta"), `Protection of ${name}`, 100 - placeOf(deltaOf(policy, name), most), {
    now: sentence(deltaOf(policy, name)),
    sentence: (at) => sentence(levelAt(100 - at, most)),
    changed: (at) => set("delta", own(at)),
  });
}

/** The bounds of a number, or the values of anything else. */
function possible({ type, bounds, values }, path, set, place) {
  if (type === "numeric") {
    const ends = Array.isArray(bounds) ? [...bounds] : [FILL, FILL];
    const end = (side, label) =>
      field(
        path("bounds"),
        `${label} of feature ${place}`,
        ends[side],
        (text) => {
          ends[side] = numeral(text);
          set("bounds", [...ends]);
        },
        { inputmode: "decimal", class: "short" },
      );
    return element(
      "div",
      { class: "pair" },
      end(0, "Least value"),
      element("span", {}, "to"),
      end(1, "Greatest value"),
    );
  }
  const listed = Array.isArray(values) ? values : ["no", "yes"];
  const same = (word) => listed.find((value) => String(value) === word) ?? word; // 1 stays a number
  const changed = (text) => set("values", listRead(text).length ? listRead(text).map(same) : [FILL]);
  const written = listWritten(listed.filter((value) => value !== FILL));
  const hint = 'Separated by commas; a value with a comma in "quotes".';
  return field(path("values"), `Values of feature ${place}`, written, changed, { title: hint });
}

// ------------------------------------------------------------------------------------------------ epsilon, correlation

/** Epsilon, what is assumed of how features go together, and how many people; odds come first. */
export function shownNumbers(policy, people, change, changePeople, dropped) {
  const sentence = (level) => `epsilon ${level}: about all answers together, ${levelSentence(level)}`;
  const epsilon = slider(["epsilon"], "Epsilon, for the whole record", placeOf(policy.epsilon, 8), {
    now: sentence(policy.epsilon),
    sentence: (at) => sentence(levelAt(at, 8)),
    changed: (at) => change((now) => withOwn(now, "epsilon", levelAt(at, 8)), true),
  });
  const peopleAt = (place) => Number((100 * 10 ** ((5 * place) / 100)).toPrecision(2));
  const amount = slider(["people"], "People who will answer", Math.round(20 * Math.log10(people / 100)), {
    now: `${people.toLocaleString("en")} people`,
    sentence: (at) => `${peopleAt(at).toLocaleString("en")} people`,
    changed: (at) => changePeople(peopleAt(at), true),
  });
  const [range] = amount.children;
  range.addEventListener("input", () => changePeople(peopleAt(Number(range.value)), false));
  return [
    group("People who will answer", amount),
    group("How features go together", ...assumption(policy, change, dropped)),
    group("For the whole record", epsilon),
  ];
}

const group = (title, ...parts) => element("div", { class: "field" }, element("h3", {}, title), ...parts);

function assumption(policy, change, dropped) {
  const stated = assumed(policy);
  const file = element("input", {
    type: "file",
    "aria-label": "A sample or a prior, to measure how features go together",
    accept: ".csv,.parquet,.arrow,.feather,.sav,.zsav,.por,.dta,.sas7bdat,.xpt",
  });
  file.addEventListener("change", () => file.files[0] && dropped(file.files[0]));
  const sample = element(
    "div",
    {},
    element(
      "p",
      { class: "hint" },
      "Or drop a public sample, of volunteers or an older study, or a known prior: a CSV with a column for each feature " +
        "and last the probability of each combination. It stays in this machine's memory.",
    ),
    file,
  );
  const set = (key, value) =>
    change((now) => {
      const both = Object.fromEntries(
        Object.entries({ ...assumed(now), [key]: value }).filter(([, one]) => one !== undefined),
      );
      return withOwn(now, "correlation", Object.keys(both).length ? both : 1);
    });
  if (stated === null) {
    const words = element(
      "pre",
      { tabindex: "0", "aria-label": "The assumption as it is stated" },
      JSON.stringify(policy.correlation, null, 1),
    );
    const simple = button("State two numbers for all instead", () =>
      change((now) => withOwn(now, "correlation", { odds: 3, q: 0.2 }), true),
    );
    return [words, simple, sample];
  }
  const oddsAt = (place) => (place >= 100 ? undefined : Number((1 + 0.1 * 300 ** (place / 100)).toPrecision(2)));
  const oddsPlace =
    stated.odds === undefined ? 100 : Math.round((100 * Math.log((stated.odds - 1) / 0.1)) / Math.log(300));
  const odds = slider(
    ["correlation", "odds"],
    "Odds: how much everything else tells of an answer",
    Math.max(oddsPlace, 0),
    {
      now: `odds: ${oddsSentence(stated.odds)}`,
      sentence: (at) => `odds: ${oddsSentence(oddsAt(at))}`,
      changed: (at) => set("odds", oddsAt(at)),
    },
  );
  const q = slider(
    ["correlation", "q"],
    "q: how much other answers move with an answer",
    Math.round(100 * (stated.q ?? 1)),
    {
      now: `q: ${qSentence(stated.q)}`,
      sentence: (at) => `q: ${qSentence(at / 100)}`,
      changed: (at) => set("q", at >= 100 ? undefined : at / 100),
    },
  );
  return [
    element(
      "p",
      { class: "hint" },
      "If you knew everything else about a person, by how much could it move the odds of one answer? The promises about " +
        "single answers rest on this assumption. Each of them says what is left if it is wrong.",
    ),
    odds,
    q,
    examples(),
    sample,
  ];
}

function examples() {
  const lines = [
    "Answers that have nothing to do with each other: odds 1, q 0. Hardly any survey is like that.",
    "Among 254,654 women, age, work and origin together move the odds of the number of children 4.3 times; q is 0.17.",
    "If one answer gives another away (a diagnosis and its medicine), there is no limit: leave both sliders at the right.",
    "You have records of such people, or know how often each combination of answers is: drop that file below.",
  ];
  const list = element("ul", {}, ...lines.map((line) => element("li", {}, line)));
  return element("details", { class: "plain" }, element("summary", {}, "What is usual?"), list);
}

// -------------------------------------------------------------------------------------------------------------- survey

const TOLD = { title: "Title", purpose: "What for", organiser: "Who asks", contact: "Contact" };

/** What people are told: all of it or nothing. */
export function shownSurvey(policy, change) {
  const survey = policy.survey ?? {};
  return Object.entries(TOLD).map(([key, label]) => {
    const set = (text) =>
      change((now) => {
        const all = { ...now.survey, [key]: text };
        const some = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
        return withOwn(now, "survey", Object.keys(some).length ? some : undefined);
      });
    return element("label", { class: "told-field" }, label, field(["survey", key], label, survey[key] ?? "", set));
  });
}

// ------------------------------------------------------------------------------------------------------------ problems

/** Shows each problem beside its field; gives those that have none. */
export function markProblems(root, problems) {
  for (const node of root.querySelectorAll("[data-path]")) {
    node.removeAttribute("aria-invalid");
    node.removeAttribute("aria-describedby");
  }
  for (const node of root.querySelectorAll(".problem")) node.remove();
  return problems.filter(({ path, sentence }, place) => {
    for (let length = path.length; length > 0; length -= 1) {
      const wanted = JSON.stringify(path.slice(0, length));
      const node = [...root.querySelectorAll("[data-path]")].find((one) => one.dataset.path === wanted);
      if (node) {
        const id = `problem-${place}`;
        if (node.matches("input")) node.setAttribute("aria-invalid", "true");
        node.setAttribute("aria-describedby", id);
        (node.closest(".slide") ?? node).after(element("p", { class: "problem error", id }, sentence));
        return false;
      }
    }
    return true;
  });
}

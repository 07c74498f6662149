/** The form's fields, from the plan's features: each knows its node, how to read it and how to tell what it read. */

import { valueWord } from "../device/tell.js";
import { element } from "../page.js";
import { digitsOf, readBack, readings } from "./numbers.js";

const MOST_BUTTONS = 7; // a longer list of values becomes a menu
const MOST_OPTIONS = 30; // and one longer than that can be searched
const MOST_SHOWN = 200; // entries of a long list at a time

/**
 * A field for one feature: its `node`, and `read()`, which gives `{ name, label, given, told, mistake, target }`. What is
 * wrong is shown while it is typed: nothing moves when a field is left, so that no click is lost.
 */
export function fieldOf(name, feature, id, words) {
  const asIs = feature.type === "open" ? words.openField : null;
  const hints = [feature.help, boundsOf(feature, words), leftOut(feature, words), asIs].filter(Boolean);
  const hint = element("p", { id: `${id}-hint`, class: "hint", dir: "auto" }, hints.join(" "));
  const remark = element("p", { id: `${id}-remark`, class: "remark" });
  const described = { "aria-describedby": `${id}-hint ${id}-remark` };
  const control = CONTROLS[controlOf(feature)]({ feature, id, hint, remark, described, words });
  const show = ({ mistake, told }) => {
    remark.textContent = mistake ?? (feature.bounds && told !== null ? words.readAs(told) : "");
    remark.classList.toggle("error", Boolean(mistake));
    for (const input of control.node.querySelectorAll("input:not([type=search]), select")) {
      input.setAttribute("aria-invalid", String(Boolean(mistake)));
    }
  };
  const read = () => {
    const found = { told: null, given: null, ...control.value() };
    show(found);
    const told = found.told ?? words.noAnswer;
    return { name, label: feature.label, ...found, told, target: control.target() };
  };
  const looked = () => remark.classList.contains("error") || feature.bounds;
  control.node.addEventListener("input", () => looked() && show({ told: null, ...control.value() }));
  return { node: control.node, read };
}

const optional = ({ missing }) => missing !== null;
const required = (feature) => (optional(feature) ? {} : { required: "" }); // without a rule the device would refuse

function countedAs(feature, words) {
  const { type, imputed } = feature;
  return type === "numeric" ? digitsOf(imputed, words.locale) : valueWord(feature, imputed, words);
}

function leftOut(feature, words) {
  if (!optional(feature)) return null;
  return feature.own ? words.ownAnswer : words.countsAs(countedAs(feature, words));
}

const boundsOf = ({ bounds }, words) =>
  bounds ? words.bounds(...bounds.map((end) => digitsOf(end, words.locale))) : null;

function controlOf({ type, values }) {
  if (type === "numeric") return "number";
  return values.length <= MOST_BUTTONS ? "buttons" : values.length <= MOST_OPTIONS ? "menu" : "list";
}

const labelled = (id, text, ...children) =>
  element("div", { class: "field" }, element("label", { for: id, dir: "auto" }, text), ...children);

function chosen(feature, index, words) {
  if (index >= 0) return { given: feature.values[index], told: valueWord(feature, index, words) };
  return optional(feature) ? {} : { mistake: words.choose };
}

const CONTROLS = {
  number({ feature, id, hint, remark, described, words }) {
    const [low, high] = feature.bounds;
    const accepted = words.accepted(digitsOf(low, words.locale), digitsOf(high, words.locale));
    const attributes = { inputmode: "decimal", autocomplete: "off", dir: "auto", ...required(feature), ...described };
    const input = element("input", { id, ...attributes });
    const which = element("div", { class: "choices", role: "group", "aria-labelledby": `${id}-remark` });
    const fits = (number) => number >= low && number <= high;
    let meant = { text: null }; // what was chosen, where a text may be two numbers
    const offer = (numbers) => {
      const button = (number) => {
        const node = element("button", { type: "button", class: "quiet" }, readBack(number, words.locale));
        node.addEventListener("click", () => {
          meant = { text: input.value.trim(), number };
          input.focus();
          input.dispatchEvent(new Event("input", { bubbles: true }));
        });
        return node;
      };
      which.replaceChildren(...numbers.map(button));
    };
    const value = () => {
      const text = input.value.trim();
      if (!text) which.replaceChildren();
      if (!text) return optional(feature) ? {} : { mistake: words.enter(accepted) };
      const numbers = text === meant.text ? [meant.number] : readings(text, words.code, fits);
      if (numbers.length > 1 && numbers.every(fits)) {
        offer(numbers);
        return { mistake: words.ambiguous(text) };
      }
      which.replaceChildren();
      const [given] = numbers;
      return fits(given) ? { given, told: readBack(given, words.locale) } : { mistake: words.isNot(text, accepted) };
    };
    return { node: labelled(id, feature.label, hint, input, remark, which), value, target: () => input };
  },

  buttons({ feature, id, hint, remark, described, words }) {
    const choice = (index, text) => {
      const input = element("input", {
        type: "radio",
        name: id,
        id: `${id}-${index}`,
        value: index,
        ...required(feature),
      });
      return [input, element("label", { class: "choice", for: input.id, dir: "auto" }, input, text)];
    };
    const choices = feature.values.map((_, index) => choice(index, valueWord(feature, index, words)));
    if (optional(feature)) {
      choices.push(choice(-1, feature.own ? words.noAnswer : words.noAnswerCounts(countedAs(feature, words))));
      choices.at(-1)[0].checked = true;
    }
    const legend = element("legend", { dir: "auto" }, feature.label);
    const list = element("div", { class: "choices" }, ...choices.map(([, label]) => label));
    const node = element("fieldset", { class: "field", ...described }, legend, hint, list, remark);
    const checked = () => choices.find(([input]) => input.checked)?.[0].value ?? -1;
    return { node, value: () => chosen(feature, Number(checked()), words), target: () => choices[0][0] };
  },

  menu({ feature, id, hint, remark, described, words }) {
    const options = feature.values.map((_, index) =>
      element("option", { value: index, dir: "auto" }, valueWord(feature, index, words)),
    );
    const none = element("option", { value: "-1" }, optional(feature) ? words.noAnswer : "");
    const select = element("select", { id, ...required(feature), ...described }, none, ...options);
    const node = labelled(id, feature.label, hint, select, remark);
    return { node, value: () => chosen(feature, Number(select.value), words), target: () => select };
  },

  list({ feature, id, hint, remark, described, words }) {
    const told = feature.values.map((_, index) => valueWord(feature, index, words));
    const search = element("input", {
      id: `${id}-search`,
      type: "search",
      autocomplete: "off",
      "aria-label": words.search,
    });
    const select = element("select", { id, size: 6, ...required(feature), ...described });
    const rest = element("p", { class: "hint", role: "status" });
    const none = () => (optional(feature) ? [element("option", { value: "-1" }, words.noAnswer)] : []);
    const fill = () => {
      const [part, before] = [search.value.trim().toLocaleLowerCase(words.code), select.value];
      const found = told.flatMap((word, index) => (word.toLocaleLowerCase(words.code).includes(part) ? [index] : []));
      const shown = found.slice(0, MOST_SHOWN);
      if (before !== "" && Number(before) >= 0 && !shown.includes(Number(before))) shown.unshift(Number(before));
      const options = shown.map((index) => element("option", { value: index, dir: "auto" }, told[index]));
      select.replaceChildren(...none(), ...options);
      select.value = before;
      rest.textContent = found.length > MOST_SHOWN ? words.hidden(words.number(found.length - MOST_SHOWN)) : "";
    };
    search.addEventListener("input", (event) => {
      event.stopPropagation();
      fill();
    });
    fill();
    const node = labelled(id, feature.label, hint, search, select, rest, remark);
    const value = () => chosen(feature, select.value === "" ? -1 : Number(select.value), words);
    return { node, value, target: () => search };
  },
};

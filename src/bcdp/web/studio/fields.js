/** Fields of the page: each tells what was entered when it is left, and has the path where its problems are shown. */

import { element } from "../page.js";

export const FILL = "FILL"; // what a draft leaves for the person to fill in
const shown = (value) => (value === undefined || value === FILL ? "" : String(value));

/** A field that tells what was entered when it is left; its path is where problems are shown. */
export function field(path, label, value, changed, more = {}) {
  const node = element("input", {
    "aria-label": label,
    "data-path": JSON.stringify(path),
    value: shown(value),
    ...more,
  });
  node.addEventListener("change", () => changed(node.value));
  return node;
}

/** A slider of 100 places with its sentence, which is `now` at first and follows it; the value counts when it is let go. */
export function slider(path, label, place, { now, sentence, changed }) {
  const told = element("output", { class: "told" }, now);
  const attributes = {
    type: "range",
    min: 0,
    max: 100,
    value: place,
    "aria-label": label,
    "data-path": JSON.stringify(path),
  };
  const node = element("input", { ...attributes, "aria-valuetext": now });
  node.addEventListener("input", () => {
    told.textContent = sentence(Number(node.value));
    node.setAttribute("aria-valuetext", told.textContent);
  });
  node.addEventListener("change", () => changed(Number(node.value)));
  return element("div", { class: "slide" }, node, told);
}

/** A button and what it does. */
export const button = (text, action, attributes = {}) => {
  const node = element("button", { type: "button", class: "quiet", ...attributes }, text);
  node.addEventListener("click", action);
  return node;
};

/** A choice of words by their keys. */
export function chooser(label, options, value, changed) {
  const choices = Object.entries(options).map(([key, text]) =>
    element("option", key === value ? { value: key, selected: "" } : { value: key }, text),
  );
  const node = element("select", { "aria-label": label }, ...choices);
  node.addEventListener("change", () => changed(node.value));
  return node;
}

/** A tick with its words. */
export function checkbox(label, checked, changed) {
  const node = element("input", { type: "checkbox", ...(checked ? { checked: "" } : {}) });
  node.addEventListener("change", () => changed(node.checked));
  return element("label", { class: "tick" }, node, label);
}

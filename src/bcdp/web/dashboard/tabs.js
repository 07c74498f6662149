/** Tabs as the keyboard expects them: one is in the order of the page, arrows go to the others. */

import { element } from "../page.js";

/** A tab for each `[id, words]` in a list; `chosen` is called with the id of one that is picked. */
export function tabsIn(list, named, chosen) {
  const tabs = named.map(([id, words]) =>
    element("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, words),
  );
  list.replaceChildren(...tabs);
  for (const [id] of named) {
    const panel = document.getElementById(`panel-${id}`);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${id}`);
    panel.tabIndex = 0;
  }
  list.addEventListener("click", ({ target }) => {
    const at = tabs.indexOf(target);
    if (at >= 0) chosen(named[at][0]);
  });
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    const to = (next + tabs.length) % tabs.length;
    chosen(named[to][0]);
    tabs[to].focus();
  });
  return (current) => {
    for (const [at, [id]] of named.entries()) {
      const selected = id === current;
      tabs[at].setAttribute("aria-selected", String(selected));
      tabs[at].tabIndex = selected ? 0 : -1;
      document.getElementById(`panel-${id}`).hidden = !selected;
    }
  };
}

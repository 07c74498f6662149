// Wide tables scroll: the keyboard has to reach them. Buttons that copy code are landmarks, which need a name each.
addEventListener("load", () => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) table.tabIndex = 0;
  document.querySelectorAll(".md-code__nav").forEach((nav, block) => nav.setAttribute("aria-label", `Code ${block + 1}`));
});

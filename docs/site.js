// Wide tables scroll: the keyboard has to reach them.
addEventListener("load", () => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) table.tabIndex = 0;
});

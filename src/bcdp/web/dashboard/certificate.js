/** What the plan promises and certifies, and what published counts would reveal. */

import { element, number, promised, table } from "../page.js";
import { stacked } from "./cards.js";

export function shownCertificate({ certificate, epsilon: allowed, promises, operator_says: said }) {
  const { features: claims, epsilon, optimality_gap: gap } = certificate;
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
export function shownCounts({ counts, counts_said: said, people }) {
  if (!counts.length) return [];
  const seen = `the counts of these ${people.toLocaleString("en")} people`;
  const caption = `By how much whoever sees only ${seen} can raise the odds of a guess about one of them.`;
  const rows = counts.map(({ label, told, condition }) => [label, told, condition]);
  const node = table(caption, ["A guess about", "Its odds rise", "On condition"], rows);
  node.className = "stacked promises";
  return [element("h2", {}, "If only the counts are published"), node, element("p", { class: "small" }, said)];
}

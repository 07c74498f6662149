/** The whole policy as text, in step with the fields: whatever a policy can express is edited there. */

import { element } from "../page.js";
import { ask, askOfFile } from "./api.js";

/** What a survey begins as that begins as nothing. */
export const BLANK = {
  epsilon: 1,
  features: { "question 1": { type: "binary", values: ["no", "yes"], label: "Your first question?" } },
};

/** The text of a policy; one that is not complete yet is written as it is, which is YAML as well. */
async function written(policy) {
  try {
    return (await ask("policy.yaml", { policy })).text;
  } catch {
    return JSON.stringify(policy, null, 2);
  }
}

/** Takes what is written when the field is left, if it is a policy; gives what is to be called when the policy changed. */
export function followText($, state, begin) {
  const tell = (sentences) =>
    $("text-problems").replaceChildren(...sentences.map((sentence) => element("p", { class: "note bad" }, sentence)));

  async function show() {
    if (!$("whole").open || !state.policy) return;
    const { policy } = state;
    const text = await written(policy);
    if (policy !== state.policy) return; // a later one is on its way
    $("text").value = text;
    tell([]);
  }

  async function taken() {
    try {
      const { policy } = await askOfFile("policy", new File([$("text").value], "policy.yaml"));
      const { problems } = await ask("problems", { policy });
      tell(problems.map(({ path, sentence }) => [...(path.length ? [path.join(".")] : []), sentence].join(": ")));
      if (!problems.length) begin(policy, state.people);
    } catch (error) {
      tell([error.message]);
    }
  }

  $("whole").addEventListener("toggle", show);
  $("text").addEventListener("change", taken);
  return show;
}

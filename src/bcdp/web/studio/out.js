/** What is taken away from the page: files, the page that people will see, a collection. */

import { save } from "../downloads.js";
import { element, say } from "../page.js";
import { ask, askOfFile, askText } from "./api.js";

const $ = (id) => document.getElementById(id);

/** Gives every button its action; `failed` is told what goes wrong. */
export function wireOut(state, failed) {
  const on = (id, action) =>
    $(id).addEventListener("click", async () => {
      $(id).disabled = true;
      try {
        await action();
      } catch (error) {
        failed(error);
      } finally {
        $(id).disabled = false;
      }
    });
  const given = () => ({ policy: state.policy, people: state.people });
  on("save-policy", async () => save("policy.yaml", (await ask("policy.yaml", given())).text, "application/yaml"));
  on("save-plan", async () => save("plan.json", state.plan, "application/json"));
  on("save-report", async () =>
    save("report.html", await askText("report", { plan: state.plan, people: state.people }), "text/html"),
  );
  on("preview", async () => {
    const { address } = await ask("preview", { plan: state.plan });
    $("collection").replaceChildren(link(address, "The page as people will see it"), " Nothing can be sent there.");
  });
  on("collect", async () => {
    say($("collection"), "Starting the collector…");
    const { survey, dashboard, folder, command } = await ask("collect", { plan: state.plan, ...given() });
    $("collection").className = "note good";
    const lines = [
      [link(survey, "Where people answer"), ` (${survey})`],
      [link(dashboard, "Your dashboard"), ", which opens with your token"],
      [`Plan, policy, token and reports are in ${folder}. The collection ends with the studio; to go on later:`],
    ];
    const told = lines.map((parts) => element("p", {}, ...parts));
    $("collection").replaceChildren(...told, element("pre", { tabindex: "0" }, command));
  });
  $("records").addEventListener("change", async () => {
    const file = $("records").files[0];
    if (!file) return;
    try {
      $("checked").replaceChildren(...checked(await askOfFile("check", file, { policy: state.policy })));
    } catch (error) {
      failed(error);
    }
  });
}

/** The commands that do the same, for so many people as now. */
export async function showCommands({ policy, people }) {
  const { commands } = await ask("policy.yaml", { policy, people });
  $("commands").textContent = commands.join("\n");
}

const link = (href, text) => element("a", { href, target: "_blank", rel: "noreferrer" }, text);

function checked({ people, problems, lines }) {
  const refused = problems.filter((problem) => problem.refused);
  const head = refused.length
    ? `${people.toLocaleString("en")} records; to be settled:`
    : `${people.toLocaleString("en")} records; the file can be used as it is.`;
  const list = element("ul", {}, ...problems.map(({ sentence }) => element("li", {}, sentence)));
  const paste = lines.length
    ? [element("p", {}, "For the policy:"), element("pre", { tabindex: "0" }, ["features:", ...lines].join("\n"))]
    : [];
  return [element("p", {}, head), list, ...paste];
}

/** What would leave the device, the sending of it, and the thanks. */

import { tellHint, tellOpen } from "../device/wording/tell.js";
import { element, say } from "../page.js";
import { pictured } from "./chances.js";
import { alone } from "./device.js";
import { kindFor, showTotal } from "./limits.js";
import { answerTo, withoutFail } from "./memory.js";
import { $, inAddress, judge, obeyed, promiseTable, reasonOf, show, state } from "./state.js";
import { sendReports } from "./transport.js";
import { forgetDrafts } from "./walk.js";

/** What would be sent, and how much it can reveal; `reopen` shows the survey anew where another tab was faster. */
export async function preview(shown, reopen) {
  const { report, kept } = shown;
  state.ready = shown;
  const ticket = state.sheet.separate || state.sheet.byTicket ? null : inAddress("ticket"); // the link may come after the answer
  const message = (each) => JSON.stringify({ plan: state.sheet.id, reports: [{ ...each, id: ticket ?? each.id }] });
  const messages = [report].flat().map(message);
  const { hints, open } = await state.device.ask("hints", { report });
  const told = hints.map((hint) => tellHint(hint, state.words, state.sheet.spoken));
  const drawn = state.sheet.separate ? state.words.separate(state.sheet.menus) : state.words.chance(state.sheet.menus);
  const sent = tellOpen(open, state.words, state.sheet.spokenOpen);
  const entries = told.map(({ about, hint, range }) =>
    element(
      "li",
      {},
      element("strong", {}, element("bdi", {}, about), ": ", element("bdi", {}, hint)),
      element("span", {}, state.words.drawnWith(...range)),
    ),
  );
  $("said").replaceChildren(...entries, ...sent.map((sentence) => element("li", {}, element("strong", {}, sentence))));
  $("chosen").textContent = drawn;
  const sentences = [drawn, ...told.map(({ sentence }) => sentence), ...sent];
  $("body").textContent = messages.join("\n");
  $("plan-id").textContent = state.sheet.id.match(/.{4}/g).join(" ");
  $("seen").textContent =
    state.sheet.relay === null ? state.words.serverSees : state.words.relaySees(new URL(state.sheet.relay.url).host);
  $("hints").replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
  $("chances").replaceChildren(...pictured(state.sheet.promises, state.words, state.sheet.spoken));
  $("guarantees").replaceChildren(...promiseTable());
  $("send").onclick = () => obeyed() && send(messages, kept, reopen);
  showTotal(state.sheet, state.words);
  $("preview-title").textContent = state.words.previewTitle;
  $("thanks").before($("preview"));
  forgetDrafts(); // the report is all that is needed from here on
  show("preview");
  judge();
  scrollTo(0, 0);
}

async function send(messages, kept, reopen) {
  const answer = answerTo(state.sheet);
  $("send").disabled = true;
  $("way").hidden = true;
  say($("status"), state.words.sending);
  try {
    await alone(async () => {
      if (answer.kept() !== kept) return reopen(); // another tab has sent it, or another person has begun
      const tried = messages.join("\n");
      const before = answer.triedBefore(tried);
      withoutFail(() => answer.trying(tried));
      const duplicate = await sendReports(messages, state.sender);
      arrived(answer, !duplicate ? "received" : before ? "duplicate" : "usedElsewhere");
    });
  } catch (failure) {
    say($("status"), state.words.notSent(reasonOf(failure)), "bad");
    $("way").hidden = failure.key !== "changed";
    $("send").textContent = state.words.sendAgain;
    waitBefore($("send"), failure.key === "tooOften" ? failure.detail[0] : 0);
    $("status").scrollIntoView({ block: "nearest" });
  }
}

/** The answer has arrived, or another one in its place; that cannot fail any more. */
function arrived(answer, key) {
  const kept = withoutFail(() => answer.sent() ?? true);
  state.ended = kept || key === "usedElsewhere" ? key : "sentUnkept";
  end();
  $("status").focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** The last screen: thanks, and what has left the device, folded. */
export function end() {
  const wasted = state.ended === "usedElsewhere";
  $("left").hidden = wasted;
  show("thanks");
  $("left").append($("preview"));
  $("preview").hidden = false;
  $("preview-title").textContent = state.words.leftTitle;
  say($("status"), state.words[state.ended], wasted ? "bad" : kindFor(state.sheet));
}

const waitBefore = (button, seconds) => setTimeout(() => (button.disabled = false), seconds * 1000);

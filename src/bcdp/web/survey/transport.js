/** What goes over the network: the plan, once, and the report. Every failure is one of the page's words. */

import { Failure } from "./device.js";

const PLAN_SECONDS = 20;
const SEND_SECONDS = 30;
const MOST_BYTES = 4 * 2 ** 20;

/** The plan's text, and whether the collection is by invitation. */
export async function fetchPlan() {
  const response = await within(PLAN_SECONDS, (signal) => fetch("v1/plan", { cache: "no-cache", signal }));
  if (response.status === 429) throw tooOften(response);
  if (!response.ok) throw new Failure("noPlan", response.status);
  const text = await within(PLAN_SECONDS, () => limited(response.body));
  return { text, invited: response.headers.get("bcdp-tickets") === "required" };
}

/** Sends a message; the collector's counts, `{ accepted, duplicate }`. */
export async function sendReport(message) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: message };
  const response = await within(SEND_SECONDS, (signal) => fetch("v1/reports", { ...request, signal }));
  if (response.status === 409) throw new Failure("changed");
  if (response.status === 429) throw tooOften(response);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok)
    throw new Failure("serverRefused", typeof answer.detail === "string" ? answer.detail : response.status);
  return answer;
}

async function within(seconds, action) {
  const ending = new AbortController();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new Failure("timeOut"));
      ending.abort();
    }, seconds * 1000);
  });
  try {
    return await Promise.race([action(ending.signal), late]);
  } catch (error) {
    throw error instanceof Failure ? error : new Failure("away");
  } finally {
    clearTimeout(timer);
  }
}

function tooOften(response) {
  const seconds = Number(response.headers.get("retry-after"));
  return new Failure("tooOften", Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : 10);
}

/** The text of a body, unless it has more bytes than a plan that a page could show. */
async function limited(body) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const reader = body.getReader();
  let [text, size] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MOST_BYTES) {
      reader.cancel();
      throw new Failure("tooLarge");
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** What goes over the network: the plan, once, and the report. Every failure is one of the page's words. */

import { Failure } from "./device.js";

const PLAN_SECONDS = 20;
const SEND_SECONDS = 30;
const MOST_BYTES = 4 * 2 ** 20;

/** The plan's text, and whether the collection is by invitation. */
export async function fetchPlan() {
  const response = await within(PLAN_SECONDS, (signal) => fetch("v1/plan", { cache: "no-cache", signal }));
  if (response.status === 429) throw tooOften(response.headers.get("retry-after"));
  if (!response.ok) throw new Failure("noPlan", response.status);
  const text = await within(PLAN_SECONDS, () => limited(response.body));
  return { text, invited: response.headers.get("bcdp-tickets") === "required" };
}

/** Sends a message, sealed to the relay if there is one; the collector's counts, `{ accepted, duplicate }`. */
export async function sendReport(message, relay) {
  const way = relay === null ? direct : sealed;
  const { status, text, retryAfter } = await within(SEND_SECONDS, (signal) => way(message, signal, relay));
  if (status === 409) throw new Failure("changed");
  if (status === 429) throw tooOften(retryAfter);
  const answer = read(text);
  if (status !== 200) throw new Failure("serverRefused", typeof answer.detail === "string" ? answer.detail : status);
  return answer;
}

async function direct(message, signal) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: message, signal };
  const response = await fetch("v1/reports", request);
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get("retry-after") };
}

async function sealed(message, signal, relay) {
  const { sendSealed } = await import("../sealing.js");
  return sendSealed(relay, message, { signal }).catch((error) => {
    throw error.name === "TypeError" ? error : new Failure("cannotSeal"); // a fetch that failed, or a cipher
  });
}

function read(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
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

function tooOften(retryAfter) {
  const seconds = Number(retryAfter);
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

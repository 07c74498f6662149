/** What goes over the network: the plan, once, and the report. Every failure is one of the page's words. */

import { checkKept, readReceipt } from "../device/receipt.js";
import { quoted } from "../device/wording/tell.js";
import { Failure } from "./device.js";

/** @typedef {{ status: number, text: string, retryAfter: string | null }} Answer */
/** @typedef {(message: string, signal: AbortSignal) => Promise<Answer>} Sender */

const PLAN_SECONDS = 20;
const SEND_SECONDS = 30;
const MOST_BYTES = 4 * 2 ** 20;

/**
 * The plan's text, and whether the collection is by invitation.
 * @type {() => Promise<{ text: string, invited: boolean }>}
 */
export async function fetchPlan() {
  const response = await within(PLAN_SECONDS, (signal) => fetch("v1/plan", { cache: "no-cache", signal }));
  if (response.status === 429) throw tooOften(response.headers.get("retry-after"));
  if (!response.ok) throw new Failure("noPlan", response.status);
  const text = await within(PLAN_SECONDS, () => limited(/** @type {ReadableStream} */ (response.body)));
  return { text, invited: response.headers.get("bcdp-tickets") === "required" };
}

/**
 * How messages are sent: to the collector, or sealed to the relay. All that sealing needs is loaded now, with the plan: a
 * request to the collector later would tell it who sends a report, just before it arrives.
 * @type {(relay: { url: string, key: string } | null) => Promise<Sender>}
 */
export async function senderFor(relay) {
  if (relay === null) return direct;
  const { sendSealed } = await within(PLAN_SECONDS, () => import("../sealing.js"));
  return (message, signal) =>
    sendSealed(relay, message, { signal }).catch((error) => {
      throw error.name === "TypeError" ? error : new Failure("cannotSeal"); // a fetch that failed, or a cipher
    });
}

/** @type {Set<string>} */
const taken = new Set(); // messages of several that the relay keeps

/**
 * Sends messages one after the other in an order drawn by chance; whether the last is a duplicate. What failed before is
 * sent again, and nothing else.
 * @type {(messages: string[], sender: Sender) => Promise<boolean>}
 */
export async function sendReports(messages, sender) {
  let duplicate = false;
  for (const message of shuffled(messages)) {
    if (taken.has(message)) continue;
    duplicate = await sendReport(message, sender);
    if (messages.length > 1) taken.add(message);
  }
  return duplicate;
}

/** @type {(messages: string[]) => string[]} */
function shuffled(messages) {
  const draws = crypto.getRandomValues(new Uint32Array(messages.length));
  return [...messages.keys()].sort((a, b) => draws[a] - draws[b]).map((place) => messages[place]);
}

/**
 * Sends a message with a report; whether it is a duplicate of one that the collector has. A mixing relay never says.
 * @type {(message: string, sender: Sender) => Promise<boolean>}
 */
export async function sendReport(message, sender) {
  const { status, text, retryAfter } = await within(SEND_SECONDS, (signal) => sender(message, signal));
  if (status === 409) throw new Failure("changed");
  if (status === 429) throw tooOften(retryAfter);
  if (status !== 200 && status !== 202) throw new Failure("serverRefused", detailOf(text) ?? status);
  try {
    if (status === 200) return readReceipt(text).duplicate > 0;
    checkKept(text);
    return false;
  } catch {
    throw new Failure("noReceipt"); // such as the page on which a network asks people to sign in
  }
}

/** @type {Sender} */
async function direct(message, signal) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: message, signal };
  const response = await fetch("v1/reports", request);
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get("retry-after") };
}

/**
 * Why the server refused, in its own words, if it said so.
 * @type {(text: string) => string | null}
 */
function detailOf(text) {
  try {
    const { detail } = JSON.parse(text);
    return typeof detail === "string" ? quoted(detail) : null;
  } catch {
    return null;
  }
}

/**
 * @template T
 * @param {number} seconds
 * @param {(signal: AbortSignal) => Promise<T>} action
 * @returns {Promise<T>}
 */
async function within(seconds, action) {
  const ending = new AbortController();
  /** @type {number | undefined} */
  let timer;
  /** @type {Promise<never>} */
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

/** @type {(retryAfter: string | null) => Failure} */
function tooOften(retryAfter) {
  const seconds = Number(retryAfter);
  return new Failure("tooOften", Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : 10);
}

/**
 * The text of a body, unless it has more bytes than a plan that a page could show.
 * @type {(body: ReadableStream<Uint8Array<ArrayBuffer>>) => Promise<string>}
 */
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

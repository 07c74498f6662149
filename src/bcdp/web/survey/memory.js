/**
 * What this browser keeps: the answer until it has arrived, then only that one was sent; the ledger of all surveys of
 * this site; the person's limits and language. What was entered is never kept.
 */

import { totalUp } from "../device/ledger.js";
import { Failure } from "./device.js";

/** Reads and writes local storage; what a browser refuses becomes one of the page's words. */
export const memory = {
  get: (key) => guarded(() => localStorage.getItem(`bcdp.${key}`)),
  set: (key, value) => guarded(() => localStorage.setItem(`bcdp.${key}`, value)),
  remove: (key) => guarded(() => localStorage.removeItem(`bcdp.${key}`)),
};

function guarded(action) {
  try {
    return action();
  } catch ({ name }) {
    throw new Failure(name === "QuotaExceededError" ? "full" : "forgetful");
  }
}

/** The answer to one plan, by the person who uses this browser now. */
export function answerTo(id) {
  return {
    kept: () => memory.get(`report.${id}`),
    keep: (text) => memory.set(`report.${id}`, text),
    wasSent: () => memory.get(`sent.${id}`) !== null,
    triedBefore: (message) => memory.get(`tried.${id}`) === message,
    trying: (message) => memory.set(`tried.${id}`, message),
    /** Keeps that an answer was sent, and no longer what it was: somebody else may use this browser next. */
    sent() {
      memory.set(`sent.${id}`, "yes");
      memory.remove(`report.${id}`);
      memory.remove(`tried.${id}`);
    },
    /** Another person uses this browser: nothing of the one before is shown or counted. */
    forget() {
      for (const key of ["report", "sent", "tried"]) memory.remove(`${key}.${id}`);
      memory.remove("ledger");
    },
  };
}

/** What all surveys of this site that this browser has answered can tell together: rows `{ plan, epsilon }`. */
export const ledger = {
  rows() {
    const text = memory.get("ledger");
    try {
      return text === null
        ? []
        : JSON.parse(text).map(({ plan, epsilon }) => ({ plan: String(plan), epsilon: Number(epsilon) }));
    } catch {
      return [{ plan: "unknown", epsilon: Infinity }]; // what cannot be read may have been anything
    }
  },
  /** The sum with one more plan, rounded up; a plan counts once. */
  with({ id, epsilon }) {
    return totalUp([
      ...ledger
        .rows()
        .filter(({ plan }) => plan !== id)
        .map((row) => row.epsilon),
      epsilon,
    ]);
  },
  add({ id, epsilon }) {
    const others = ledger.rows().filter(({ plan }) => plan !== id);
    memory.set("ledger", JSON.stringify([...others, { plan: id, epsilon }]));
  },
};

/**
 * What this browser keeps: the answer until it has arrived, then only that one was sent; the ledger of all surveys of
 * this site; the person's limits and language. What was entered is kept only while the person wants that, and in local
 * storage: browsers write session storage to disk as well, and would do it unasked.
 */

import { totalUp } from "../device/ledger.js";
import { Failure } from "./device.js";

/** @typedef {import("../device/ledger.js").Release} Release */
/** @typedef {{ drafts: [name: string, draft: unknown][], reached: number }} Draft */

const ROOM = 2000; // characters: a report and its row of the ledger take fewer, but for the levels of features
const LEVEL_ROOM = 30; // a level and what is around it

/** Reads and writes local storage; what a browser refuses becomes one of the page's words. */
export const memory = {
  /**
   * Fails unless there is room for an answer: better before a form is filled in than after.
   * @type {(sheet: { features: ReadonlyMap<string, unknown>, open: ReadonlyMap<string, unknown> }) => void}
   */
  probe({ features, open }) {
    const levels = [...features.keys(), ...open.keys()].map((name) => 2 * (JSON.stringify(name).length + LEVEL_ROOM));
    memory.set("room", "x".repeat(levels.reduce((room, level) => room + level, ROOM)));
    memory.remove("room");
  },
  /** @type {(key: string) => string | null} */
  get: (key) => guarded(() => localStorage.getItem(`bcdp.${key}`)),
  /** @type {(key: string, value: string) => void} */
  set: (key, value) => guarded(() => localStorage.setItem(`bcdp.${key}`, value)),
  /** @type {(key: string) => void} */
  remove: (key) => guarded(() => localStorage.removeItem(`bcdp.${key}`)),
};

/**
 * @template T
 * @param {() => T} action
 * @returns {T}
 */
function guarded(action) {
  try {
    return action();
  } catch (/** @type {any} */ { name }) {
    throw new Failure(name === "QuotaExceededError" ? "full" : "forgetful");
  }
}

/**
 * What an action gives; null if this browser does not let it. One that remembers nothing says so when it matters.
 * @template T
 * @param {() => T} action
 * @returns {T | null}
 */
export function withoutFail(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

/**
 * What the person chose before, if this browser remembers anything.
 * @type {(key: string) => string | null}
 */
export const remembered = (key) => withoutFail(() => memory.get(key));
/** @type {(key: string, value: string) => void} */
export const remember = (key, value) => withoutFail(() => memory.set(key, value));

/**
 * The answer to a survey, by the person who uses this browser now; whoever changes it is `alone`.
 * @param {{ id: string }} sheet
 */
export function answerTo({ id }) {
  const kept = () => memory.get(`report.${id}`);
  const wasSent = () => memory.get(`sent.${id}`) !== null;
  return {
    kept,
    wasSent,
    /** Whether a report was drawn; `sent` is marked before the report is removed, so they are read the other way round. */
    exists: () => kept() !== null || wasSent(),
    /**
     * Keeps and counts a report that was just drawn. What cannot be kept and counted was never drawn: nobody saw it.
     * @type {(text: string, release: Release) => void}
     */
    keep(text, release) {
      try {
        memory.set(`report.${id}`, text);
        ledger.add(release);
        const part = memory.get(`panel.${id}`); // of earlier values nothing is left
        if (part !== null) memory.set(`panel.${id}`, JSON.stringify({ word: JSON.parse(part).word }));
      } catch (failure) {
        memory.remove(`report.${id}`);
        throw failure;
      }
    },
    /** @type {(message: string) => boolean} */
    triedBefore: (message) => memory.get(`tried.${id}`) === message,
    /** @type {(message: string) => void} */
    trying: (message) => memory.set(`tried.${id}`, message),
    /** Keeps that an answer was sent, and no longer what it was: somebody else may use this browser next. */
    sent() {
      memory.set(`sent.${id}`, "yes");
      memory.remove(`report.${id}`);
      memory.remove(`tried.${id}`);
    },
    /** Another person uses this browser: nothing of the one before is shown or counted. */
    forget() {
      for (const key of ["report", "sent", "tried", "panel", "draft"]) memory.remove(`${key}.${id}`);
      memory.remove("ledger");
    },
  };
}

/**
 * What was entered in the form of a survey, if the person wants it to be kept: drafts of the fields, and how far they are.
 * @param {{ id: string }} sheet
 */
export function draftOf({ id }) {
  const key = `draft.${id}`;
  return {
    /** @type {() => Draft | null} */
    kept() {
      const draft = withoutFail(() => JSON.parse(memory.get(key) ?? "null"));
      return Array.isArray(draft?.drafts) && Number.isInteger(draft.reached) ? draft : null;
    },
    /** @type {(draft: Draft) => void} */
    keep: (draft) => memory.set(key, JSON.stringify(draft)),
    forget: () => memory.remove(key),
  };
}

/**
 * A level that was kept; what is none, such as the null as which JSON writes an infinite one, may have been anything.
 * @type {(epsilon: any) => number}
 */
const levelOf = (epsilon) => (Number.isFinite(epsilon) && epsilon >= 0 ? epsilon : Infinity);

/**
 * What all surveys of this site that this browser has answered can tell together: rows as `releaseOf` gives them for the
 * menu that was drawn. Rows of earlier versions have the epsilon of the whole plan and nothing else.
 */
export const ledger = {
  /** @type {() => Release[]} */
  rows() {
    const text = memory.get("ledger");
    try {
      const rows = text === null ? [] : JSON.parse(text);
      return rows.map((/** @type {any} */ row) => ({ ...row, plan: String(row.plan), epsilon: levelOf(row.epsilon) }));
    } catch {
      return [{ plan: "unknown", epsilon: Infinity }]; // what cannot be read may have been anything
    }
  },
  /**
   * The sum with one more plan, rounded up: by the menu that was drawn for it, or else by the largest that could be.
   * @type {(sheet: { id: string, epsilon: number, release?: Release }) => number}
   */
  with({ id, epsilon, release }) {
    const others = ledger.rows().filter(({ plan }) => plan !== id);
    return totalUp([...others.map((row) => row.epsilon), release?.epsilon ?? epsilon]);
  },
  /**
   * Enters a release; a plan counts once.
   * @type {(release: Release) => void}
   */
  add(release) {
    const others = ledger.rows().filter(({ plan }) => plan !== release.plan);
    memory.set("ledger", JSON.stringify([...others, release]));
  },
};

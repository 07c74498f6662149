/** The page's side of the device, which works in a worker: every question has its own answer, within a time. */

/** @typedef {import("../words/choose.js").Spoken} Spoken */
/** @typedef {{ timer: number, resolve: (done: any) => void, reject: (error: Error) => void }} Waiting */

/** What went wrong, as a key of the page's words; `detail` is what the words need. */
export class Failure extends Error {
  /**
   * @param {keyof Spoken} key
   * @param {...(string | number)} detail
   */
  constructor(key, ...detail) {
    super(key);
    this.key = key;
    this.detail = detail;
  }
}

const SECONDS = 30;

/**
 * A device in a worker of its own: `ask(what, given)` promises its answer.
 * @type {() => { ask: (what: string, given: unknown) => Promise<any> }}
 */
export function startDevice() {
  const worker = new Worker("worker.js", { type: "module" });
  /** @type {Map<number, Waiting>} */
  const waiting = new Map();
  let asked = 0;
  /** @type {(number: number, action: (promise: Omit<Waiting, "timer">) => void) => void} */
  const settle = (number, action) => {
    const { timer, ...promise } = /** @type {Waiting} */ (waiting.get(number));
    clearTimeout(timer);
    waiting.delete(number);
    action(promise);
  };
  worker.onerror = () => {
    for (const number of waiting.keys()) settle(number, ({ reject }) => reject(new Failure("away"))); // no script came
  };
  worker.onmessage = ({ data: { number, done, failed } }) =>
    settle(number, ({ resolve, reject }) => (failed ? reject(failureOf(failed)) : resolve(done)));
  /** @type {(what: string, given: unknown) => Promise<any>} */
  const ask = (what, given) =>
    new Promise((resolve, reject) => {
      const number = (asked += 1);
      const timer = setTimeout(() => {
        worker.terminate(); // a plan that takes so long is not worth a person's time, and may be made to
        reject(new Failure("tooLong"));
      }, SECONDS * 1000);
      waiting.set(number, { timer, resolve, reject });
      worker.postMessage({ number, ask: what, given });
    });
  return { ask };
}

/** @type {(failed: { name: string, message: string }) => Error} */
function failureOf({ name, message }) {
  if (name === "RangeError") return new Failure("tooLarge");
  return message.startsWith("page: got plain http") ? new Failure("insecure") : new Error(message);
}

/**
 * Runs an action while no other tab of this site runs one.
 * @template T
 * @param {() => T | Promise<T>} action
 * @returns {T | Promise<T>}
 */
export function alone(action) {
  return navigator.locks ? navigator.locks.request("bcdp", action) : action();
}

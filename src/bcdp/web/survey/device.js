/** The page's side of the device, which works in a worker: one question at a time, each within a time. */

/** What went wrong, as a key of the page's words; `detail` is what the words need. */
export class Failure extends Error {
  constructor(key, ...detail) {
    super(key);
    [this.key, this.detail] = [key, detail];
  }
}

const SECONDS = 30;

/** A device in a worker of its own: `ask(what, given)` promises its answer. */
export function startDevice() {
  const worker = new Worker("worker.js", { type: "module" });
  const ask = (what, given) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        worker.terminate(); // a plan that takes so long is not worth a person's time, and may be made to
        reject(new Failure("tooLong"));
      }, SECONDS * 1000);
      const settle = (action) => {
        clearTimeout(timer);
        action();
      };
      worker.onerror = () => settle(() => reject(new Failure("away"))); // its script did not come
      worker.onmessage = ({ data: { done, failed } }) =>
        settle(() => (failed ? reject(failureOf(failed)) : resolve(done)));
      worker.postMessage({ ask: what, given });
    });
  return { ask };
}

function failureOf({ name, message }) {
  if (name === "RangeError") return new Failure("tooLarge");
  return message.startsWith("page: got plain http") ? new Failure("insecure") : new Error(message);
}

/** Runs an action while no other tab of this site runs one. */
export function alone(action) {
  return navigator.locks ? navigator.locks.request("bcdp", action) : action();
}

/**
 * What is edited, kept by this tab until it is closed: a reload does not lose it. A studio that was started with another
 * policy begins with that. A browser that blocks storage keeps nothing.
 */

const KEY = "bcdp.studio";

/** What was edited last, `{ policy, people }`, in a studio that was started with this policy; null if there is nothing. */
export function read(given) {
  try {
    const { given: then, policy, people } = JSON.parse(sessionStorage.getItem(KEY));
    return then === JSON.stringify(given) ? { policy, people } : null;
  } catch {
    return null;
  }
}

/** Keeps what is edited. */
export function write(given, { policy, people }) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ given: JSON.stringify(given), policy, people }));
  } catch {
    // it is lost with the page then, as it was told
  }
}

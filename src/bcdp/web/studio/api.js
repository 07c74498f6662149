/** Requests to this machine: answers as JSON, or part by part; whatever is no longer waited for is ended. */

/** A refusal: the problems of a policy, each with its path and its sentence. */
export class Refused extends Error {
  constructor(problems) {
    super(problems.map(({ sentence }) => sentence).join(" "));
    this.problems = problems;
  }
}

async function sent(path, body, type, signal) {
  const response = await fetch(`api/${path}`, { method: "POST", headers: { "content-type": type }, body, signal });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Refused(told.problems ?? [{ path: [], sentence: told.detail ?? `status ${response.status}` }]);
}

/** The answer to a request. */
export async function ask(path, given = {}) {
  return (await sent(path, JSON.stringify(given), "application/json")).json();
}

/** The text of an answer. */
export async function askText(path, given) {
  return (await sent(path, JSON.stringify(given), "application/json")).text();
}

/** The answer to a request with a file, which this machine looks at in its memory. */
export async function askOfFile(path, file, given = {}) {
  const head = JSON.stringify({ ...given, name: file.name });
  return (await sent(path, new Blob([head, "\n", file]), "application/octet-stream")).json();
}

const running = new Map();

/**
 * Gives each part of an answer to `part`; a newer request of this kind ends the one before it. True if it ended well.
 *
 * A request that was ended on the way may arrive after a newer one and end that: it is then made again.
 */
export async function follow(kind, given, part, again = 3) {
  running.get(kind)?.abort();
  const control = new AbortController();
  running.set(kind, control);
  try {
    const response = await sent(kind, JSON.stringify(given), "application/json", control.signal);
    for await (const found of partsOf(response)) {
      if (found.problems) throw new Refused(found.problems);
      if (found.done) return !control.signal.aborted;
      if (!control.signal.aborted) part(found);
    }
    if (control.signal.aborted) return false;
    if (again === 0) throw new Error("The planner ended without an answer.");
    return follow(kind, given, part, again - 1); // its failure is not one of this request
  } catch (error) {
    if (control.signal.aborted) return false;
    throw error;
  } finally {
    if (running.get(kind) === control) running.delete(kind);
  }
}

/** The parts of an answer as they arrive, each a line of JSON. */
async function* partsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

/** Ends a request that nobody waits for. */
export function cease(kind) {
  running.get(kind)?.abort();
}

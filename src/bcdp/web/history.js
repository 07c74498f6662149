/**
 * How many people had answered, day by day. The collector keeps no times, so this browser notes it while the page is open:
 * a day counts when enough people have come since the last one, because days of few would tell when somebody answered.
 */

/** @typedef {[day: string, people: number]} Note */

const FEWEST = 1000; // people more than on the day before: as many as counts that may be published

/**
 * The notes `[[day, people], ..]` with what is true today; those of a store that was emptied begin anew.
 * @type {(notes: readonly Note[], day: string, people: number) => Note[]}
 */
export function noted(notes, day, people) {
  const before = notes.filter(([other, count]) => other < day && count <= people);
  const kept = before.length < notes.filter(([other]) => other < day).length ? [] : before;
  const [, last] = kept.at(-1) ?? ["", 0];
  return people - last >= FEWEST ? [...kept, [day, people]] : kept;
}

/**
 * Notes what is true today for a plan, in a store, and gives all notes; a store that is full or broken is as good as none.
 * @type {(store: Storage, plan: string, people: number, now?: Date) => Note[]}
 */
export function remembered(store, plan, people, now = new Date()) {
  const key = `bcdp.days.${plan}`;
  const day = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  let notes;
  try {
    notes = noted(JSON.parse(store.getItem(key) ?? "[]"), day, people);
    if (notes.length) store.setItem(key, JSON.stringify(notes));
    else store.removeItem(key);
  } catch {
    notes = noted([], day, people);
  }
  return notes;
}

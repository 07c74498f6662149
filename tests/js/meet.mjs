// Every vector against the package, with nothing that only some runtimes have.
import { InputError, answerOnce, answers as messages, certify, parsePlan, verifyPlan } from "bcdp-device";
import { explain } from "bcdp-device/words";
import { words } from "bcdp-device/words/ar";

const check = (right, what) => {
  if (!right) throw new Error(what);
};
const isRefused = (error) => check(error instanceof InputError, error);

/** How many plans, answers and refusals of the vectors, by file name, the package meets; an error if it fails one. */
export async function meet(vectors) {
  let [plans, answers, refused] = [0, 0, 0];

  for (const [name, vector] of Object.entries(vectors)) {
    if (!vector.plan) continue;
    const plan = await parsePlan(vector.plan);
    const { epsilon, delta, c } = certify(plan);
    check(plan.id === vector.id && epsilon === vector.levels.epsilon, name);
    for (const [feature, level] of delta) check(level === vector.levels.delta[feature], `${name}: ${feature}`);
    for (const [feature, level] of c) check(level === vector.levels.c[feature], `${name}: ${feature}`);
    const before = vector.examples.map(({ record }) => record).reverse(); // of a question about change
    for (const [number, example] of vector.examples.entries()) {
      const { record, words: given, menu, answer: expected, answers: several } = example;
      const reports = messages(plan, record, Uint32Array.from(given), before[number]);
      const wanted = several ?? [expected];
      const met = reports.every((report, place) => report.answer === wanted[place] && report.menu === (menu ?? place));
      check(met && reports.length === wanted.length, `${name}: an answer`);
      answers += 1;
    }
    check(explain(plan, { menu: 0, answer: 0 }, words).sentences.length > 3, name);
    plans += 1;
  }
  for (const { plan } of vectors["refused.json"]) {
    await parsePlan(plan)
      .then((parsed) => verifyPlan(parsed, { maxEpsilon: Infinity }))
      .then(() => check(false, "a plan that must be refused"), isRefused);
    refused += 1;
  }
  const kept = new Map();
  const store = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => void kept.set(key, text) };
  const plan = await parsePlan(vectors["binary.json"].plan);
  const [first, second] = await Promise.all([1, 0].map((value) => answerOnce(plan, { answer: value }, store)));
  check(JSON.stringify(first) === JSON.stringify(second), "once");
  if (!globalThis.localStorage) {
    try {
      await answerOnce(plan, { answer: 1 });
      check(false, "an answer that nobody remembers");
    } catch (error) {
      isRefused(error);
    }
  }
  return { plans, answers, refused };
}

/** Which questions are asked, given what is entered so far: by the rule of the device. */

/** @typedef {import("../device/reading/features.js").Feature} Feature */
/** @typedef {import("../device/reading/features.js").Named<Feature>} Features */
/** @typedef {ReadonlyMap<string, unknown>} Entered what each field holds, null for nothing */

/**
 * The names of the questions that are not asked, as a function of what is entered; none where there are no follow-ups.
 * @type {(features: Features) => Promise<(entered: Entered) => Set<string>>}
 */
export async function followUpsOf(features) {
  if (![...features.values()].some(({ askedIf }) => askedIf !== null)) return () => new Set();
  const { readBlocks } = await import("../device/reading/blocks.js");
  const { order, notAsked, ticked } = readBlocks(features);
  /** @type {(name: string, feature: Feature, given: unknown) => number} */
  const codeOf = (name, feature, given) => {
    if (feature.type !== "multiple") return numberOf(feature, given);
    return Array.isArray(given) && given.length <= (feature.most ?? 0) ? ticked(name, given) : -1;
  };
  return (entered) => {
    const codes = new Map();
    /** @type {Set<string>} */
    const hidden = new Set();
    for (const [name, feature] of order) {
      const code = notAsked(name, codes, null);
      if (code !== null) hidden.add(name);
      codes.set(name, code ?? codeOf(name, feature, entered.get(name) ?? null));
    }
    return hidden;
  };
}

/**
 * The number of what is entered, or of what no answer counts as; -1 for neither, with which nothing is asked.
 * @type {(feature: Feature, given: unknown) => number}
 */
function numberOf({ values, imputed }, given) {
  if (given === null) return imputed ?? -1;
  return values?.findIndex((value) => value === given) ?? -1;
}

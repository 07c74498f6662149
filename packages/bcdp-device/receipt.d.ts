/** How many reports of a message the collector says it has, from the text of its answer; throws if that is no receipt. */
export function readReceipt(text: string, reports?: number): { readonly accepted: number; readonly duplicate: number };

import type { Answer, Feature, Plan } from "./index.js";

/** The words of a language: `ENGLISH`, or `words` of `bcdp-device/words/de`, `fr`, `es`, `ar`. */
export type Words = Readonly<Record<string, unknown>>;

export interface PromiseInWords {
  readonly name: string | null;
  readonly label: string;
  readonly odds: number;
  readonly becomes: number;
  readonly told: string;
  readonly condition: string;
  readonly left: string;
  readonly sentence: string;
}
export interface Hint {
  readonly about: string;
  readonly hint: string;
  readonly least: number;
  readonly most: number;
  readonly sentence: string;
}

export const ENGLISH: Words;
export function promises(plan: Plan, words?: Words): PromiseInWords[];
export function explain(
  plan: Plan,
  report: Answer,
  words?: Words,
): { sentences: string[]; hints: Hint[]; guarantees: PromiseInWords[] };
export function operatorSays(plan: Plan, words?: Words): string;
export function quoted(text: string): string;
export function valueWord(feature: Feature, index: number, words?: Words): string;

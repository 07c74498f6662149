import type { Given, Plan, Report, Store } from "./index.js";

/** What of a SurveyJS model is used. */
export interface SurveyModel {
  readonly onComplete: { add(handler: (sender: { data: unknown }, options: object) => void): void };
}
export interface Message {
  readonly plan: string;
  readonly reports: readonly [Report];
}
export function formOf(plan: Plan): Record<string, unknown>;
export function recordOf(plan: Plan, data: Readonly<Record<string, unknown>>): Record<string, Given>;
export function answerOnComplete(
  survey: SurveyModel,
  plan: Plan,
  options: { store: Store; send: (message: Message) => Promise<string> },
): void;

/** Input that cannot be used; the message names the field, its value and what is accepted. */
export class InputError extends Error {}

export type Value = string | number | boolean;

export interface Feature {
  readonly type: "binary" | "numeric" | "categorical";
  readonly label: string;
  readonly help: string | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly helps: Readonly<Record<string, string>> | null;
  readonly missing: Value | null;
  readonly delta: number;
  readonly bounds?: readonly [number, number];
  readonly values?: readonly Value[];
  readonly valueLabels?: Readonly<Record<string, readonly string[]>> | null;
}

/** What is sent as it is beside the report, and never protected. */
export interface OpenFeature {
  readonly type: "open";
  readonly label: string;
  readonly help: string | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly helps: Readonly<Record<string, string>> | null;
  readonly values: readonly Value[];
  readonly valueLabels?: Readonly<Record<string, readonly string[]>> | null;
}

export interface Survey {
  readonly title: string;
  readonly purpose: string;
  readonly organiser: string;
  readonly contact: string;
  readonly minutes?: number | null;
  readonly decline?: string | null;
  readonly titles?: Readonly<Record<string, string>> | null;
  readonly purposes?: Readonly<Record<string, string>> | null;
  readonly declines?: Readonly<Record<string, string>> | null;
}

/** Where reports go sealed, and the key configuration for which they are. */
export interface Relay {
  readonly url: string;
  readonly key: string;
}

/** A plan whose form was checked; its promises are checked by `verifyPlan`. */
export interface Plan {
  readonly id: string;
  readonly epsilon: number;
  readonly features: ReadonlyMap<string, Feature>;
  readonly open: ReadonlyMap<string, OpenFeature>;
  readonly survey: Survey | null;
  readonly relay: Relay | null;
  readonly menus: readonly unknown[];
  readonly certificate: {
    readonly epsilon: number;
    readonly features: ReadonlyMap<string, { readonly asked: number; readonly certified: number; readonly c: number }>;
  };
}

/** Levels in nats, rounded up. */
export interface Levels {
  readonly epsilon: number;
  readonly c: ReadonlyMap<string, number>;
  readonly delta: ReadonlyMap<string, number>;
}

export type Given = Value | null | undefined;
export interface Answer {
  readonly menu: number;
  readonly answer: number;
  readonly group?: number;
}
export interface Report extends Answer {
  readonly id: string;
}

/**
 * Where answers are kept: `localStorage`, or anything with these two methods that is still there tomorrow. They may give
 * promises, as `AsyncStorage` of React Native does.
 */
export interface Store {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(key: string, value: string): unknown;
}

/** A store that has its texts at once. */
export interface ImmediateStore extends Store {
  getItem(key: string): string | null | undefined;
}

/** The 32 bytes of the SHA-256 of bytes, for where there is no Web Crypto. */
export type Sha256 = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<Uint8Array>;

export const MAX_EPSILON: number;
export function parsePlan(text: string, how?: { sha256?: Sha256 }): Promise<Plan>;
export function certify(plan: Plan): Levels;
export function verifyPlan(plan: Plan, limits?: { maxEpsilon?: number; maxDelta?: number }): Levels;
export function answer(plan: Plan, record: Readonly<Record<string, Given>>, words?: Uint32Array): Answer;
/** The ticket of an invitation is needed where it assigns the menu. */
export function answerOnce(
  plan: Plan,
  record: Readonly<Record<string, Given>>,
  store?: Store,
  ticket?: string | null,
): Promise<Report>;
/** One report, or one for each message of a plan that sends several; `answer` and `answerOnce` refuse such a plan. */
export function answers(plan: Plan, record: Readonly<Record<string, Given>>, words?: Uint32Array): Answer[];
export function answersOnce(plan: Plan, record: Readonly<Record<string, Given>>, store?: Store): Promise<Report[]>;
/** A list for a plan that sends several messages; a promise of it if the store gives promises. */
export function keptReport(plan: Plan, store?: ImmediateStore): Report | Report[] | null;
export function keptReport(plan: Plan, store: Store): Promise<Report | Report[] | null> | Report | Report[] | null;
export function randomWords(plan: Plan): Uint32Array;

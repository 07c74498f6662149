import type { Plan } from "./index.js";

type Levels = Readonly<Record<string, number>>;

/** A row of a ledger; of one without `c` only the epsilon is known. */
export interface Release {
  readonly plan: string;
  readonly epsilon: number;
  readonly c?: Levels;
  readonly delta?: Levels;
  readonly menus?: Readonly<Record<string, readonly (readonly [number, number])[]>>;
  readonly open?: readonly string[];
}

/** What answering a plan costs, or the answers to the menu that was drawn. */
export function releaseOf(plan: Plan, menu?: number): Release;
/** The level in nats of all releases together about one feature, rounded up. */
export function spentOn(rows: readonly Release[], name: string, stated?: { q?: number; odds?: number }): number;
/** The sum of levels in nats, rounded up. */
export function totalUp(levels: readonly number[]): number;

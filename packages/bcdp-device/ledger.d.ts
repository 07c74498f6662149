/** The sum of levels in nats, rounded up: what several plans tell together. */
export function totalUp(levels: readonly number[]): number;

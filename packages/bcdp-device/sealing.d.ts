import type { Relay } from "./index.js";

/** What the collector answered, or the relay in its place; `text` is JSON. */
export interface SealedAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}
export function sealReports(
  key: string,
  message: string,
): Promise<{ body: Uint8Array; open(answer: ArrayBuffer | Uint8Array): Promise<SealedAnswer> }>;
export function sendSealed(
  relay: Relay,
  message: string,
  options?: { signal?: AbortSignal; fetch?: typeof fetch },
): Promise<SealedAnswer>;

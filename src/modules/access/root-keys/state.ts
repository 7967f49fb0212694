import type { Instant } from '#kernel/time.ts';

/** An order to have one root key wrap every data key. Scope = `account`; path [`rewrap`]; absent until the first. */
export interface Rewrap {
  readonly id: string;
  /** Id of the target root key. */
  readonly rootKeyId: string;
  /** Number of data keys wrapped by another root key at the time of the order. */
  readonly total: number;
  readonly by: string;
  readonly orderedAt: Instant;
  /** Null while in progress. */
  readonly endedAt: Instant | null;
}

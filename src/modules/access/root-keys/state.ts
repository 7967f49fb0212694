import type { Instant } from '../../../kernel/time.ts';

/** An order to have one root key wrap every data key. Scope = `account`; path [`rewrap`]; absent until the first. */
export interface Rewrap {
  readonly id: string;
  /** Of the root key that is to wrap them all. */
  readonly rootKeyId: string;
  /** Data keys that another wrapped when it was ordered. */
  readonly total: number;
  readonly by: string;
  readonly orderedAt: Instant;
  /** Null while it goes on. */
  readonly endedAt: Instant | null;
}

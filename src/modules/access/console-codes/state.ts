import type { Instant } from '#kernel/time.ts';

/** Names a key without its secret. `environmentUid` is null for a key of the account. */
export interface KeyName {
  readonly environmentUid: string | null;
  readonly id: string;
}

/**
 * Signs a browser in once, in place of the named keys. Kind `console-code`, scope `account`, path [id]. Index `hash` =
 * keyed hash of the code, which is not stored. Absent once it is used or has expired.
 */
export interface ConsoleCode {
  readonly id: string;
  readonly hash: string;
  readonly keys: readonly KeyName[];
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

import type { Instant } from '#kernel/time.ts';
import type { KeyName } from '../console-codes/state.ts';

/**
 * A browser that is signed in to the console. Kind `console-session`, scope `account`, path [id]. Index `hash` = keyed
 * hash of the token in its cookie, which is not stored. Secrets of keys are not in it.
 */
export interface ConsoleSession {
  readonly id: string;
  readonly hash: string;
  /** At most one of the account. */
  readonly keys: readonly KeyName[];
  readonly createdAt: Instant;
  /** Its last use as noted: every `limits.consoleSessionNotedMs`. */
  readonly usedAt: Instant;
}

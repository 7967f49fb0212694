import type { Sealed } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';

/** Scope = environment uid; path [environment uid, name]. The value is sealed under the environment's key. */
export interface Variable {
  readonly environmentUid: string;
  readonly name: string;
  readonly value: Sealed<string>;
  readonly updatedAt: Instant;
}

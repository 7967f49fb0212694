import type { Sealed } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';

/**
 * Environment keys: kind `api-key`, scope = environment uid, path [environment uid, id].
 * Account keys: kind `account-key`, scope `account`, path [id].
 * Index `hash` = keyed hash of the secret.
 */
export interface ApiKey {
  readonly id: string;
  readonly environmentUid: string | null;
  readonly displayName: string;
  readonly scopes: readonly string[];
  readonly hash: string;
  /** For "reveal". */
  readonly secret: Sealed<string>;
  readonly lastFour: string;
  readonly createdAt: Instant;
  /** Updated at most once an hour. */
  readonly lastUsedAt: Instant | null;
}

import type { Sealed } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';

/**
 * The outcome of the first request with a key. Own scope; path [environment uid or account, caller's key id, hash of
 * the key].
 */
export interface IdempotentRequest {
  /** Keyed hash of method, address and body. */
  readonly requestHash: string;
  /** Token of the request that does the work. */
  readonly token: string;
  /**
   * Id of the first request that did the work, and of those that continued it. Absent in states of release 0.70.0: the
   * token.
   */
  readonly workId?: string;
  /** Expiry of the lease while it runs. */
  readonly leaseUntil: Instant;
  /** Null while it runs. */
  readonly answer: KeptAnswer | null;
  /** Deleted at this time. */
  readonly until: Instant;
}

/** `too-large`: the response was too large to store. */
export type KeptAnswer =
  | { readonly kind: 'sealed'; readonly sealed: Sealed<JsonObject> }
  | { readonly kind: 'too-large' };

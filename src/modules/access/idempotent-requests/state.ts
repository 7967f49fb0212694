import type { Sealed } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';
import type { Instant } from '../../../kernel/time.ts';

/** What became of the first request with a key. Scope of its own; path [environment uid or account, caller's key id, hash of the key]. */
export interface IdempotentRequest {
  /** Keyed hash of method, address and body. */
  readonly requestHash: string;
  /** Of the request that does the work. */
  readonly token: string;
  /** Of the first request that did the work; of those that went on with it, too. Absent: as in release 0.70.0, the token. */
  readonly workId?: string;
  /** While it runs: until then nobody else may. */
  readonly leaseUntil: Instant;
  /** Null while it runs. */
  readonly answer: KeptAnswer | null;
  /** Forgotten then. */
  readonly until: Instant;
}

/** `too-large`: there was one, but it is not kept. */
export type KeptAnswer =
  { readonly kind: 'sealed'; readonly sealed: Sealed<JsonObject> } | { readonly kind: 'too-large' };

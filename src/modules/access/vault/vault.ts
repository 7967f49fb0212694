import { type Sealed, joinKey } from '#kernel/ids.ts';
import type { Json } from '#kernel/stable-json.ts';

export interface Fingerprints {
  /** Keyed hash (HMAC-SHA-256 under a key of the service) as hex: look-ups and comparisons without the secret. */
  fingerprint(purpose: string, text: string): string;
}

/**
 * Seals secrets under data keys that live apart (`svc.internal.keys.v1`), wrapped by the root key
 * (docs/reference/guarantees.md#secrets). A key's id is the uid of what it belongs to: a connection, an environment, or
 * `account`. Calls are synchronous once `ready(keyId)` has resolved for the key.
 */
export interface Vault extends Fingerprints {
  /**
   * Creates the key of a new id that only the caller knows, if this node does not have it; durable when it resolves.
   */
  create(keyId: string): Promise<void>;
  /**
   * Waits until this node has the key.
   * @throws GatewayError `not_found` when it was destroyed or never created.
   */
  ready(keyId: string): Promise<void>;
  /** JSON to text that is safe on a topic. `context` names environment, owner and field; it is bound to the text. */
  seal<T extends Json>(keyId: string, value: T, context: string): Sealed<T>;
  /** @throws GatewayError `invalid_credentials` when the key was destroyed, or the text or the context was changed. */
  open<T extends Json>(keyId: string, sealed: Sealed<T>, context: string): T;
  sealBytes(keyId: string, plain: Uint8Array, context: string): Buffer;
  openBytes(keyId: string, sealed: Uint8Array, context: string): Buffer;
  /**
   * The key itself, for a thread of this process that seals in bulk.
   * @throws as `openBytes`, when it was destroyed
   */
  dataKey(keyId: string): Uint8Array;
  /**
   * Destroys the key: no node can open its ciphertext any more. Resolves with the number of ms for which the wrapped
   * key may remain in the files of the log; 0 = it is already unrecoverable.
   */
  shred(keyId: string): Promise<number>;
}

/** What a sealed text is bound to: environment, owner and field. */
export const sealingContext = (environmentUid: string, owner: string, field: string): string =>
  joinKey(environmentUid, owner, field);

import { LRUCache } from 'lru-cache';
import { GatewayError } from '#kernel/errors.ts';
import type { Cipher } from '#ports/cipher.ts';
import type * as values from '#streams/values.ts';
import type { RootKey } from './root-keys.ts';

/** A value of `svc.internal.keys.v1`. */
export type WrappedKey = values.WrappedKey;

/** How many data keys each root key wraps, by its id. */
export interface RootKeyUse {
  /** Id of the root key that wraps new keys. */
  readonly sealing: string;
  /** All root keys of this process, the wrapping one first. */
  readonly known: readonly string[];
  readonly wrapped: ReadonlyMap<string, number>;
}

/** Size of the cache of unwrapped keys; a miss costs microseconds. */
const openedMax = 10_000;

/** The data keys of this thread, unwrapped on first use. In memory only. */
export class KeyRing {
  readonly #roots: readonly { readonly id: string; readonly cipher: Cipher }[];
  readonly #newCipher: (key: Uint8Array) => Cipher;
  readonly #wrapped = new Map<string, WrappedKey>();
  readonly #wrappedBy = new Map<string, number>();
  /** Ids of keys that are not wrapped by the first root key. */
  readonly #outdated = new Set<string>();
  readonly #opened = new LRUCache<string, { readonly bytes: Buffer; readonly cipher: Cipher }>({
    max: openedMax,
  });

  constructor(roots: readonly RootKey[], newCipher: (key: Uint8Array) => Cipher) {
    this.#roots = roots.map(({ id, bytes }) => ({ id, cipher: newCipher(bytes) }));
    this.#newCipher = newCipher;
  }

  apply(keyId: string, wrapped: WrappedKey | null): void {
    this.#opened.delete(keyId);
    this.#count(this.#wrapped.get(keyId), -1);
    this.#outdated.delete(keyId);
    if (wrapped === null) {
      this.#wrapped.delete(keyId);
      return;
    }
    this.#wrapped.set(keyId, wrapped);
    this.#count(wrapped, 1);
    if (wrapped.root_id !== this.#roots[0]?.id) this.#outdated.add(keyId);
  }

  #count(key: WrappedKey | undefined, by: 1 | -1): void {
    if (key === undefined) return;
    const count = (this.#wrappedBy.get(key.root_id) ?? 0) + by;
    if (count === 0) this.#wrappedBy.delete(key.root_id);
    else this.#wrappedBy.set(key.root_id, count);
  }

  has(keyId: string): boolean {
    return this.#wrapped.has(keyId);
  }

  wrap(keyId: string, key: Uint8Array, at: number): WrappedKey {
    const [root] = this.#roots;
    if (root === undefined) throw new Error('There is no root key.');
    const wrapped = root.cipher.seal(key, contextOf(keyId));
    return { key_id: keyId, root_id: root.id, wrapped, created_at: at };
  }

  /** @throws GatewayError `invalid_credentials` when the key was destroyed or no root key opens it */
  cipher(keyId: string): Cipher {
    return this.#open(keyId).cipher;
  }

  /** @throws as `cipher` */
  bytes(keyId: string): Buffer {
    return this.#open(keyId).bytes;
  }

  use(): RootKeyUse {
    const existing = this.#roots.map(({ id }) => id);
    return { sealing: existing[0] ?? '', known: existing, wrapped: new Map(this.#wrappedBy) };
  }

  /** A batch of the keys that are not wrapped by the first root key. */
  outdated(max: number): WrappedKey[] {
    const found: WrappedKey[] = [];
    for (const keyId of this.#outdated) {
      if (found.length === max) break;
      const wrapped = this.#wrapped.get(keyId);
      if (wrapped !== undefined) found.push(wrapped);
    }
    return found;
  }

  #open(keyId: string): { readonly bytes: Buffer; readonly cipher: Cipher } {
    const existing = this.#opened.get(keyId);
    if (existing !== undefined) return existing;
    const wrapped = this.#wrapped.get(keyId);
    if (wrapped === undefined) {
      throw new GatewayError('invalid_credentials', {
        message: 'The key of this secret was destroyed.',
      });
    }
    const root = this.#roots.find(({ id }) => id === wrapped.root_id);
    if (root === undefined) {
      const message = `The root key ${wrapped.root_id} of this secret is not configured on this node.`;
      throw new GatewayError('root_key_missing', { message });
    }
    const bytes = root.cipher.open(wrapped.wrapped, contextOf(keyId));
    const opened = { bytes, cipher: this.#newCipher(bytes) };
    this.#opened.set(keyId, opened);
    return opened;
  }
}

const contextOf = (keyId: string): string => `data key ${keyId}`;

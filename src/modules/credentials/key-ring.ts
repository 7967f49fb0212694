import { GatewayError } from '../../kernel/errors.ts';
import type { Cipher } from '../../ports/cipher.ts';
import type { RootKey } from './root-keys.ts';

/** A value of `svc.internal.keys.v1`. */
export interface WrappedKey {
  readonly key_id: string;
  /** Which root key wrapped it. */
  readonly root_id: string;
  readonly wrapped: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
}

/** Opened keys kept at hand; wrapping is quick, so a cold one costs microseconds. */
const openedMax = 10_000;

/** The data keys of this thread, wrapped as they came; opened when first used. Memory only. */
export class KeyRing {
  readonly #roots: readonly { readonly id: string; readonly cipher: Cipher }[];
  readonly #newCipher: (key: Uint8Array) => Cipher;
  readonly #wrapped = new Map<string, WrappedKey>();
  readonly #opened = new Map<string, { readonly bytes: Buffer; readonly cipher: Cipher }>();

  constructor(roots: readonly RootKey[], newCipher: (key: Uint8Array) => Cipher) {
    this.#roots = roots.map(({ id, bytes }) => ({ id, cipher: newCipher(bytes) }));
    this.#newCipher = newCipher;
  }

  apply(keyId: string, wrapped: WrappedKey | null): void {
    this.#opened.delete(keyId);
    if (wrapped === null) this.#wrapped.delete(keyId);
    else this.#wrapped.set(keyId, wrapped);
  }

  has(keyId: string): boolean {
    return this.#wrapped.has(keyId);
  }

  wrap(keyId: string, key: Uint8Array, at: number): WrappedKey {
    const [root] = this.#roots;
    if (root === undefined) throw new Error('There is no root key.');
    const wrapped = root.cipher.seal(key, context(keyId));
    return { key_id: keyId, root_id: root.id, wrapped, created_at: at };
  }

  /** @throws GatewayError `invalid_credentials` when the key is gone or no root key opens it */
  cipher(keyId: string): Cipher {
    return this.#open(keyId).cipher;
  }

  /** @throws as `cipher` */
  bytes(keyId: string): Buffer {
    return this.#open(keyId).bytes;
  }

  /** Keys that another than the first root key wrapped. */
  outdated(): WrappedKey[] {
    const first = this.#roots[0]?.id;
    return [...this.#wrapped.values()].filter(({ root_id }) => root_id !== first);
  }

  #open(keyId: string): { readonly bytes: Buffer; readonly cipher: Cipher } {
    const known = this.#opened.get(keyId);
    if (known !== undefined) return known;
    const wrapped = this.#wrapped.get(keyId);
    const root = this.#roots.find(({ id }) => id === wrapped?.root_id);
    if (wrapped === undefined || root === undefined) {
      throw new GatewayError('invalid_credentials', { message: 'The key of this secret is gone.' });
    }
    const bytes = root.cipher.open(wrapped.wrapped, context(keyId));
    const opened = { bytes, cipher: this.#newCipher(bytes) };
    const [oldest] = this.#opened.keys();
    if (this.#opened.size >= openedMax && oldest !== undefined) this.#opened.delete(oldest);
    this.#opened.set(keyId, opened);
    return opened;
  }
}

const context = (keyId: string): string => `data key ${keyId}`;

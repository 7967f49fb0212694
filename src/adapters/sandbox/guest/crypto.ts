import { callSync } from './bridge.ts';
import { Buffer } from './buffer.ts';
import { bytesOf, utf8Encode } from './text.ts';

/** The part of `node:crypto` that functions use; the host computes the digests. */
class Digest {
  readonly #algorithm: string;
  readonly #key: Uint8Array | null;
  #parts: Uint8Array[] = [];
  #isDone = false;

  constructor(algorithm: string, key: Uint8Array | null) {
    this.#algorithm = algorithm;
    this.#key = key;
  }

  update(data: unknown, encoding?: string): this {
    if (this.#isDone) throw coded('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#parts.push(input(data, encoding));
    return this;
  }

  digest(): Buffer;
  digest(encoding: string): string;
  digest(encoding?: string): Buffer | string {
    if (this.#isDone) throw coded('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#isDone = true;
    const data = Buffer.concat(this.#parts).toString('base64');
    this.#parts = [];
    const key = this.#key === null ? null : Buffer.from(this.#key).toString('base64');
    const result = JSON.parse(callSync('digest', [this.#algorithm, key, data])) as {
      digest?: string;
      error?: string;
    };
    if (result.digest === undefined) throw new Error(result.error ?? 'Invalid digest');
    const bytes = Buffer.from(result.digest, 'base64');
    return encoding === undefined || encoding === 'buffer' ? bytes : bytes.toString(encoding);
  }
}

function input(data: unknown, encoding?: string): Uint8Array {
  if (typeof data === 'string') {
    return encoding === undefined ? utf8Encode(data) : Buffer.from(data, encoding);
  }
  const bytes = bytesOf(data);
  if (bytes === null) throw new TypeError('The data must be a string, a Buffer or a typed array');
  return new Uint8Array(bytes);
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

export function createHash(algorithm: unknown): Digest {
  return new Digest(String(algorithm), null);
}

export function createHmac(algorithm: unknown, key: unknown): Digest {
  return new Digest(String(algorithm), input(key));
}

export function hash(algorithm: unknown, data: unknown, encoding = 'hex'): Buffer | string {
  return createHash(algorithm).update(data).digest(encoding);
}

export function randomUUID(): string {
  return JSON.parse(callSync('uuid', [])) as string;
}

export function randomBytes(size: number): Buffer {
  if (!Number.isInteger(size) || size < 0 || size > 1_048_576) {
    throw new RangeError('randomBytes takes a size from 0 to 1048576');
  }
  return Buffer.from(JSON.parse(callSync('random', [size])) as string, 'base64');
}

export function getRandomValues<T extends ArrayBufferView>(view: T): T {
  const bytes = bytesOf(view);
  if (bytes === null) throw new TypeError('getRandomValues takes a typed array');
  bytes.set(randomBytes(bytes.length));
  return view;
}

/** From `min` (0 when only one bound is given) to below `max`, without bias. */
export function randomInt(first: number, second?: number): number {
  const [min, max] = second === undefined ? [0, first] : [first, second];
  const range = max - min;
  if (!(range > 0) || range > 2 ** 48) throw new RangeError('The range is not valid');
  const limit = 2 ** 48 - (2 ** 48 % range);
  for (;;) {
    const bytes = randomBytes(6);
    const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    if (value < limit) return min + (value % range);
  }
}

export function timingSafeEqual(a: unknown, b: unknown): boolean {
  const left = bytesOf(a);
  const right = bytesOf(b);
  if (left === null || right === null) throw new TypeError('timingSafeEqual takes two buffers');
  if (left.length !== right.length) throw new RangeError('Input buffers must have the same length');
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= (left[at] ?? 0) ^ (right[at] ?? 0);
  return difference === 0;
}

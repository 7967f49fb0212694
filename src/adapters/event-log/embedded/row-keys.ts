import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '#kernel/errors.ts';

const keyBytes = 32;
/** The file grows by this many slots. */
const slotsPerGrowth = 128;

const fileOf = (directory: string): string => join(directory, 'row-keys');

/** Reads the keys of rows, in any thread. */
export class RowKeyReader {
  readonly #directory: string;
  #fd: number | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  read(slot: number): Buffer {
    this.#fd ??= openSync(fileOf(this.#directory), 'r');
    return keyAt(this.#fd, slot);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

/**
 * A key for each row of an erasable topic, in slots of 32 bytes of a file that is written in place. SQLite leaves
 * copies of what it moved between pages, even with `secure_delete`, so that a row is erased by destroying its key.
 * A free slot holds a random key that was never used, so that an assigned key is on disk already. A key is
 * destroyed by overwriting it with the next one, after the commit of the transaction that releases it.
 */
export class RowKeys {
  readonly #fd: number;
  #free: number[] = [];
  #end = 0;
  #released: number[] = [];

  constructor(directory: string) {
    this.#fd = openSync(fileOf(directory), constants.O_RDWR | constants.O_CREAT, 0o600);
    syncFolder(directory);
  }

  /**
   * Destroys every key except those of the slots: remains of a crash or a failed transaction.
   * @throws GatewayError `log_corrupt` when the file ends before a slot
   */
  keepOnly(used: ReadonlySet<number>): void {
    this.#end = Math.floor(fstatSync(this.#fd).size / keyBytes);
    for (const slot of used) if (slot >= this.#end) throw missing(slot);
    this.#released = [];
    this.#free = [];
    for (let slot = this.#end - 1; slot >= 0; slot--) if (!used.has(slot)) this.#free.push(slot);
    this.#renew(this.#free);
  }

  take(): { readonly slot: number; readonly key: Buffer } {
    if (this.#free.length === 0) this.#grow();
    const slot = this.#free.pop() ?? 0;
    return { slot, key: this.read(slot) };
  }

  /** Destroyed when the transaction is committed. */
  release(slot: number): void {
    this.#released.push(slot);
  }

  /** The first step after a commit: superseded values are unreadable before anyone is notified. */
  destroyReleased(): void {
    this.#renew(this.#released);
    this.#free.push(...this.#released);
    this.#released = [];
  }

  read(slot: number): Buffer {
    return keyAt(this.#fd, slot);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #grow(): void {
    const first = this.#end;
    const slots = Array.from({ length: slotsPerGrowth }, (_, i) => first + slotsPerGrowth - 1 - i);
    this.#renew(slots);
    this.#end += slotsPerGrowth;
    this.#free.push(...slots);
  }

  #renew(slots: readonly number[]): void {
    if (slots.length === 0) return;
    for (const slot of slots) {
      writeSync(this.#fd, randomBytes(keyBytes), 0, keyBytes, slot * keyBytes);
    }
    fdatasyncSync(this.#fd);
  }
}

function keyAt(fd: number, slot: number): Buffer {
  const key = Buffer.alloc(keyBytes);
  readSync(fd, key, 0, keyBytes, slot * keyBytes);
  return key;
}

/** Makes the directory entries of a folder durable. */
export function syncFolder(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function missing(slot: number): GatewayError {
  const message =
    `The event log is corrupt: its file row-keys lacks key ${slot}. ` +
    'It belongs to log.sqlite: restore both from the same backup.';
  return new GatewayError('log_corrupt', { message });
}

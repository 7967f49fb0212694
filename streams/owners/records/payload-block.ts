import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { PayloadEncoding } from '../../../src/modules/records/events.ts';

export interface KeptPayload {
  /** Null once pruned. */
  readonly bytes: Uint8Array | null;
  readonly encoding: PayloadEncoding;
}

export interface PlacedPayload {
  readonly position: number;
  readonly id: string;
  readonly payload: KeptPayload;
}

/** A payload alone shrinks by a quarter, 32 neighbours to less than a third; more gain little, and take longer to read. */
export const blockEntriesMax = 24;
/** Bytes before compression; a larger payload has a block of its own. */
export const blockBytesMax = 65_536;
/** Blocks below both are not compressed: they are about to be extended. */
export const smallEntries = 8;
const smallBytes = 4096;

/** By number. */
const encodings: readonly PayloadEncoding[] = [
  'none',
  'json',
  'json+aes256gcm',
  'json+deflate+aes256gcm',
];

const uintBytes = 4;
/** Per entry: length and kind of the payload, length of the id. */
const entryHeadBytes = 2 * uintBytes;

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export interface EncodedBlock {
  /** Compressed when shorter than `size`. */
  readonly data: Uint8Array;
  /** Bytes before compression. */
  readonly size: number;
}

/** What an entry adds to the size of its block, about: ids are mostly ASCII. */
export function entryBytes({ id, payload }: PlacedPayload): number {
  return entryHeadBytes + id.length + (payload.bytes?.length ?? 0);
}

/** Positions are not in it: see `encodePlaces`. */
export function encodeBlock(entries: readonly PlacedPayload[]): EncodedBlock {
  const ids = Buffer.from(entries.map(({ id }) => id).join(''));
  const headBytes = uintBytes + entries.length * entryHeadBytes;
  const payloadBytes = entries.reduce((sum, { payload }) => sum + (payload.bytes?.length ?? 0), 0);
  const size = headBytes + ids.length + payloadBytes;
  const raw = Buffer.allocUnsafe(size);
  let head = raw.writeUInt32LE(ids.length, 0);
  raw.set(ids, headBytes);
  let at = headBytes + ids.length;
  for (const { id, payload } of entries) {
    const { bytes, encoding } = payload;
    head = raw.writeUInt32LE(id.length, head);
    const length = bytes === null ? 0 : bytes.length + 1;
    head = raw.writeUInt32LE(length * encodings.length + encodings.indexOf(encoding), head);
    if (bytes === null) continue;
    raw.set(bytes, at);
    at += bytes.length;
  }
  const isWorthIt = entries.length >= smallEntries || size >= smallBytes;
  if (!isWorthIt) return { data: raw, size };
  const packed = zstdCompressSync(raw, fast);
  return { data: packed.length < size ? packed : raw, size };
}

/** A block as it is read. */
export class Block {
  readonly bytes: number;
  readonly #raw: Buffer;
  readonly #count: number;
  #ids: string[] | null = null;
  #ends: number[] | null = null;

  constructor({ data, size }: EncodedBlock, count: number) {
    const given = Buffer.from(data.buffer, data.byteOffset, data.length);
    // A little more than is needed: a full buffer would have another one allocated.
    const chunkSize = size + 64;
    this.#raw = data.length < size ? zstdDecompressSync(given, { chunkSize }) : given;
    this.#count = count;
    this.bytes = size;
  }

  id(index: number): string {
    this.#ids ??= this.#readIds();
    return this.#ids[index] ?? '';
  }

  hasPayload(index: number): boolean {
    return this.#code(index) >= encodings.length;
  }

  payload(index: number): KeptPayload {
    const code = this.#code(index);
    const encoding = encodings[code % encodings.length] ?? 'none';
    if (code < encodings.length) return { bytes: null, encoding };
    this.#ends ??= this.#readEnds();
    const end = this.#ends[index] ?? 0;
    return { bytes: this.#raw.subarray(end - lengthIn(code), end), encoding };
  }

  get #payloadsAt(): number {
    return uintBytes + this.#count * entryHeadBytes + this.#raw.readUInt32LE(0);
  }

  #code(index: number): number {
    return this.#raw.readUInt32LE(uintBytes + index * entryHeadBytes + uintBytes);
  }

  #readIds(): string[] {
    const text = this.#raw.toString(
      'utf8',
      uintBytes + this.#count * entryHeadBytes,
      this.#payloadsAt,
    );
    let at = 0;
    return Array.from({ length: this.#count }, (_, index) => {
      const from = at;
      at += this.#raw.readUInt32LE(uintBytes + index * entryHeadBytes);
      return text.slice(from, at);
    });
  }

  #readEnds(): number[] {
    let end = this.#payloadsAt;
    return Array.from({ length: this.#count }, (_, index) => {
      end += lengthIn(this.#code(index));
      return end;
    });
  }
}

function lengthIn(code: number): number {
  return code < encodings.length ? 0 : Math.floor(code / encodings.length) - 1;
}

/** Distances between ascending positions in base 128; null when each is 1. */
export function encodePlaces(positions: readonly number[]): Uint8Array | null {
  const bytes: number[] = [];
  let isDense = true;
  for (let at = 1; at < positions.length; at++) {
    let distance = (positions[at] ?? 0) - (positions[at - 1] ?? 0);
    if (distance !== 1) isDense = false;
    for (; distance >= 128; distance = Math.floor(distance / 128))
      bytes.push((distance % 128) + 128);
    bytes.push(distance);
  }
  return isDense ? null : Uint8Array.from(bytes);
}

export function decodePlaces(first: number, count: number, places: Uint8Array | null): number[] {
  if (places === null) return Array.from({ length: count }, (_, at) => first + at);
  const positions = [first];
  let position = first;
  let unit = 1;
  for (const byte of places) {
    position += (byte % 128) * unit;
    unit *= 128;
    if (byte >= 128) continue;
    positions.push(position);
    unit = 1;
  }
  return positions;
}

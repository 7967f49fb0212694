import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { KeptEncoding, KeptPayload, PayloadGroup } from '../encryption.ts';

/** Placeholder of a secret whose key was destroyed. */
export const unreadable: KeptPayload = {
  encoding: 'json+deflate+aes256gcm',
  bytes: new Uint8Array(),
};

export interface PlacedPayload {
  readonly position: number;
  readonly id: string;
  readonly payload: KeptPayload;
}

/**
 * A single payload shrinks by a quarter, 32 neighbors to less than a third; more gain little, and take longer to read.
 */
export const blockEntriesMax = 24;
/** Bytes before compression; a larger payload has a block of its own. */
export const blockBytesMax = 65_536;
/** Blocks below both are not compressed: they are about to be extended. */
export const smallEntries = 8;
const smallBytes = 4096;

/** By number. */
const encodings: readonly KeptEncoding[] = [
  'none',
  'json',
  'json+aes256gcm',
  'json+deflate+aes256gcm',
  'secret',
];

const uintBytes = 4;
/** Per entry: length and kind of the payload, length of the id. */
const entryHeadBytes = 2 * uintBytes;

const params = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Bytes of output that zstd gets at a time. */
const chunkBytesMin = 1024;

/** First byte of a zstd frame: neither the length of some ids nor JSON begins with it. */
const packedMark = 0xfd2fb528;

export interface EncodedBlock {
  readonly data: Uint8Array;
  /** The secrets among the payloads, sealed as one. */
  readonly secrets: Uint8Array | null;
  /** Bytes of all, before compression. */
  readonly size: number;
}

type Seal = (group: PayloadGroup, plain: Uint8Array) => Uint8Array;
type Open = (group: PayloadGroup, sealed: Uint8Array) => Uint8Array;

/** Approximate size of an entry: ids are mostly ASCII. */
export function entryBytes({ id, payload }: PlacedPayload): number {
  return entryHeadBytes + id.length + (payload.bytes?.length ?? 0);
}

/** Positions are not in it: see `encodePlaces`. */
export function encodeBlock(entries: readonly PlacedPayload[], seal: Seal): EncodedBlock {
  const ids = Buffer.from(entries.map(({ id }) => id).join(''));
  const heads = Buffer.allocUnsafe(uintBytes + entries.length * entryHeadBytes);
  let head = heads.writeUInt32LE(ids.length, 0);
  const open: Uint8Array[] = [];
  const secrets: Uint8Array[] = [];
  const together = { ids: [] as string[], lengths: [] as number[] };
  for (const { id, payload } of entries) {
    const { bytes, encoding } = payload;
    head = heads.writeUInt32LE(id.length, head);
    const length = bytes === null ? 0 : bytes.length + 1;
    head = heads.writeUInt32LE(length * encodings.length + encodings.indexOf(encoding), head);
    if (bytes === null) continue;
    (encoding === 'secret' ? secrets : open).push(bytes);
    if (encoding !== 'secret') continue;
    together.ids.push(id);
    together.lengths.push(bytes.length);
  }
  const raw = Buffer.concat([heads, ids, ...open]);
  const joined = Buffer.concat(secrets);
  const size = raw.length + joined.length;
  const isWorthIt = entries.length >= smallEntries || size >= smallBytes;
  const sealed = secrets.length === 0 ? null : seal(together, isWorthIt ? packed(joined) : joined);
  return { data: isWorthIt ? packed(raw) : raw, secrets: sealed, size };
}

/** Compressed, if that is shorter. */
function packed(raw: Buffer): Buffer {
  // The default of 16 KB would be several times what a block takes, and each is garbage of the collector.
  const chunkSize = Math.max(chunkBytesMin, raw.length >> 1);
  const short = zstdCompressSync(raw, { params, chunkSize });
  return short.length < raw.length ? short : raw;
}

function unpacked(data: Uint8Array, size: number): Buffer {
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.length);
  if (buffer.length < uintBytes || buffer.readUInt32LE(0) !== packedMark) return buffer;
  // With some reserve: a full buffer would be reallocated.
  return zstdDecompressSync(buffer, { chunkSize: size + 64 });
}

/** A block for reading. */
export class Block {
  readonly bytes: number;
  readonly #raw: Buffer;
  readonly #sealed: Uint8Array | null;
  readonly #open: Open;
  readonly #count: number;
  #ids: string[] | null = null;
  #ends: number[] | null = null;
  #secrets: Buffer | null = null;

  constructor({ data, secrets, size }: EncodedBlock, count: number, open: Open) {
    this.#raw = unpacked(data, size);
    this.#sealed = secrets;
    this.#open = open;
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
    const encoding = encodingIn(this.#code(index));
    if (!this.hasPayload(index)) return { encoding, bytes: null };
    if (encoding !== 'secret') return { encoding, bytes: this.#slice(this.#raw, index) };
    const opened = (): Uint8Array => this.#slice(this.#openedSecrets(), index);
    return {
      encoding,
      get bytes() {
        return opened();
      },
    };
  }

  #slice(from: Buffer, index: number): Uint8Array {
    this.#ends ??= this.#readEnds();
    const end = this.#ends[index] ?? 0;
    return from.subarray(end - lengthIn(this.#code(index)), end);
  }

  #openedSecrets(): Buffer {
    if (this.#secrets !== null) return this.#secrets;
    const indexes = Array.from({ length: this.#count }, (_, index) => index);
    const secret = indexes.filter((index) => encodingIn(this.#code(index)) === 'secret');
    const ids = secret.map((index) => this.id(index));
    const lengths = secret.map((index) => lengthIn(this.#code(index)));
    const opened = this.#open({ ids, lengths }, this.#sealed ?? new Uint8Array());
    this.#secrets = unpacked(opened, this.bytes);
    return this.#secrets;
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

  /** Place of each payload: in the block, or among the secrets. */
  #readEnds(): number[] {
    let end = this.#payloadsAt;
    let secretEnd = 0;
    return Array.from({ length: this.#count }, (_, index) => {
      const code = this.#code(index);
      if (encodingIn(code) === 'secret') return (secretEnd += lengthIn(code));
      return (end += lengthIn(code));
    });
  }
}

const encodingIn = (code: number): KeptEncoding => encodings[code % encodings.length] ?? 'none';

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

import { crc32, constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Headers, ReadMessage } from '#ports/event-log.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { HeaderTable, HeaderTableWriter } from './header-table.ts';

/**
 * A batch as one row: a directory and a body, each compressed by itself where that saves bytes.
 * Little endian throughout.
 *
 *   directory  u32 count, u32 0
 *              f64 timestamp                        per message
 *              u32 offset - base                    per message
 *              u32 end of the key                   per message
 *              u32 length of the value + 1; 0 = tombstone   per message
 *              u32 end of the header block          per message
 *              keys in UTF-8
 *   body       u32 length of the shapes, u32 length of the header blocks
 *              shapes (JSON), header blocks (header-table.ts), values
 *
 * A compressed part is u32 length before compression, then one zstd frame.
 */
export interface EncodedRow {
  readonly count: number;
  /** Bytes of all values, uncompressed. */
  readonly bytes: number;
  readonly newest: number;
  readonly codec: number;
  /** CRC32 of `data`. */
  readonly crc: number;
  /** The directory, then the body. */
  readonly data: ArrayBuffer;
  readonly directoryLength: number;
}

/** The stored form of a row, for decoding. */
export interface StoredRow {
  readonly base: number;
  readonly next: number;
  readonly crc: number;
  readonly codec: number;
  readonly directory: Uint8Array;
  readonly body: Uint8Array;
}

interface RowInput {
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly headers: Headers;
  readonly timestamp?: number;
}

/** Bits of `codec`. */
const directoryPacked = 1;
const bodyPacked = 2;
/** The body is sealed (sealed-row.ts), after compression. */
export const bodySealed = 4;
const columnBytes = 24;
/** Start of each column, in units of the count: the timestamps take 8 bytes, the others 4. */
const column = { offset: 8, key: 12, value: 16, header: 20 } as const;

// One set per thread: encoding is synchronous, so that uses never overlap.
const directory = new GrowingBuffer(64 * 1024);
const blocks = new GrowingBuffer(64 * 1024);
const body = new GrowingBuffer(1024 * 1024);

export interface EncodeOptions {
  /** Deltas to the row's base; default: counting up from 0. */
  readonly offsets?: readonly number[];
  /** Whether the row is retained long enough to be worth compressing. Default true. */
  readonly isKept?: boolean;
}

/** Encodes messages [from, to). */
export function encodeRow(
  messages: readonly RowInput[],
  from: number,
  target: number,
  now: number,
  { offsets, isKept = true }: EncodeOptions = {},
): EncodedRow {
  // Also removes the remains of a failed encoding.
  for (const buffer of [directory, blocks, body]) buffer.clear();
  const newest = writeDirectory(messages, from, target, now, offsets);
  const values = valuesOf(messages, from, target);
  if (isKept) for (const value of values) body.append(value);
  const packedDirectory = isKept ? compress(directory.bytes) : null;
  const packedBody = isKept ? compress(body.bytes) : null;
  const first = pieces([directory.bytes], packedDirectory);
  // Uncompressed data is copied directly to its destination.
  const second = pieces(isKept ? [body.bytes] : [body.bytes, ...values], packedBody);
  const data = joined([...first, ...second]);
  return {
    count: target - from,
    bytes: lengthOf(values),
    newest,
    codec:
      (packedDirectory === null ? 0 : directoryPacked) | (packedBody === null ? 0 : bodyPacked),
    crc: crc32(data),
    data: data.buffer,
    directoryLength: lengthOf(first),
  };
}

/** Fills the directory and the body up to its values; returns the newest timestamp. */
function writeDirectory(
  messages: readonly RowInput[],
  from: number,
  target: number,
  now: number,
  offsets: readonly number[] | undefined,
): number {
  const count = target - from;
  const headers = new HeaderTableWriter();
  directory.skip(8 + count * columnBytes);
  directory.uint32(0, count);
  directory.uint32(4, 0);
  let newest = -Infinity;
  let keyEnd = 0;
  for (let i = 0; i < count; i++) {
    const message = messages[from + i] as RowInput;
    const timestamp = message.timestamp ?? now;
    if (timestamp > newest) newest = timestamp;
    keyEnd += directory.text(message.key);
    headers.write(message.headers, blocks);
    const at = 8 + count * column.offset + i * 4;
    directory.float64(8 + i * 8, timestamp);
    directory.uint32(at, offsets === undefined ? i : (offsets[i] ?? 0));
    directory.uint32(at + count * 4, keyEnd);
    directory.uint32(at + count * 8, message.value === null ? 0 : message.value.length + 1);
    directory.uint32(at + count * 12, blocks.length);
  }
  body.skip(8);
  const shapes = body.text(JSON.stringify(headers));
  body.uint32(0, shapes);
  body.uint32(4, blocks.length);
  body.append(blocks.bytes);
  return newest;
}

function valuesOf(messages: readonly RowInput[], from: number, target: number): Uint8Array[] {
  const values: Uint8Array[] = [];
  for (let i = from; i < target; i++) {
    const value = messages[i]?.value ?? null;
    if (value !== null) values.push(value);
  }
  return values;
}

/** The stored form of one of the row's two parts. */
function pieces(raw: readonly Uint8Array[], packed: Uint8Array | null): readonly Uint8Array[] {
  if (packed === null) return raw;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(lengthOf(raw));
  return [length, packed];
}

function lengthOf(all: readonly Uint8Array[]): number {
  let length = 0;
  for (const bytes of all) length += bytes.length;
  return length;
}

/** In memory of its own, which can be transferred to another thread. */
function joined(all: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const data = Buffer.allocUnsafeSlow(lengthOf(all));
  let at = 0;
  for (const bytes of all) {
    data.set(bytes, at);
    at += bytes.length;
  }
  return data;
}

function unpacked(bytes: Uint8Array, isPacked: boolean): Buffer {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isPacked ? decompress(buffer.subarray(4), buffer.readUInt32LE(0)) : buffer;
}

/** A message backed by its row: key and headers are decoded on access, the value is never copied. */
class StoredMessage implements ReadMessage {
  readonly offset: number;
  readonly timestamp: number;
  readonly value: Buffer | null;
  readonly #row: RowView;
  readonly #index: number;
  #knownHeaders: Headers | null = null;

  constructor(row: RowView, index: number, timestamp: number, value: Buffer | null) {
    this.#row = row;
    this.#index = index;
    this.offset = row.offset(index);
    this.timestamp = timestamp;
    this.value = value;
  }

  get key(): string {
    return this.#row.key(this.#index);
  }

  get headers(): Headers {
    this.#knownHeaders ??= this.#row.headers(this.#index);
    return this.#knownHeaders;
  }
}

/** The directory of a row, for readers of keys and offsets without the values. */
export class DirectoryView {
  readonly count: number;
  readonly base: number;
  protected readonly directory: Buffer;
  readonly #keysAt: number;

  constructor(row: Pick<StoredRow, 'base' | 'codec' | 'directory'>) {
    this.directory = unpacked(row.directory, (row.codec & directoryPacked) !== 0);
    this.count = this.directory.readUInt32LE(0);
    this.base = row.base;
    this.#keysAt = 8 + this.count * columnBytes;
  }

  offset(index: number): number {
    return this.base + this.column(column.offset, index);
  }

  timestamp(index: number): number {
    return this.directory.readDoubleLE(8 + index * 8);
  }

  key(index: number): string {
    const start = index === 0 ? 0 : this.column(column.key, index - 1);
    const end = this.column(column.key, index);
    return this.directory.toString('utf8', this.#keysAt + start, this.#keysAt + end);
  }

  isTombstone(index: number): boolean {
    return this.column(column.value, index) === 0;
  }

  protected column(which: number, index: number): number {
    return this.directory.readUInt32LE(8 + this.count * which + index * 4);
  }
}

class RowView extends DirectoryView {
  readonly #body: Buffer;
  readonly #valuesAt: number;
  readonly #table: HeaderTable;

  constructor(row: StoredRow) {
    super(row);
    this.#body = unpacked(row.body, (row.codec & bodyPacked) !== 0);
    const shapesEnd = 8 + this.#body.readUInt32LE(0);
    this.#valuesAt = shapesEnd + this.#body.readUInt32LE(4);
    this.#table = new HeaderTable(
      this.#body.subarray(8, shapesEnd),
      this.#body.subarray(shapesEnd, this.#valuesAt),
    );
  }

  headers(index: number): Headers {
    const start = index === 0 ? 0 : this.column(column.header, index - 1);
    return this.#table.read(start, this.column(column.header, index));
  }

  /** The messages from the offset on. */
  messages(from: number): ReadMessage[] {
    const messages: ReadMessage[] = [];
    let at = this.#valuesAt;
    for (let i = 0; i < this.count; i++) {
      const length = this.column(column.value, i) - 1;
      const end = length > 0 ? at + length : at;
      if (this.offset(i) >= from) {
        const value = length < 0 ? null : this.#body.subarray(at, end);
        messages.push(new StoredMessage(this, i, this.timestamp(i), value));
      }
      at = end;
    }
    return messages;
  }
}

/** The messages of the row with an offset of `from` or more. */
export function decodeRow(row: StoredRow, from: number): ReadMessage[] {
  return new RowView(row).messages(from);
}

const placeBytes = Buffer.alloc(20);

/** Binds the CRC of a row's data to its position, so that a misplaced row is detected as corruption. */
export function crcAtPlace(crc: number, partition: number, base: number, next: number): number {
  placeBytes.writeUInt32LE(partition, 0);
  placeBytes.writeDoubleLE(base, 4);
  placeBytes.writeDoubleLE(next, 12);
  return crc32(placeBytes, crc);
}

/** Whether the row is what was written at this position. */
export function isIntact(row: StoredRow, partition: number): boolean {
  const crc = crc32(row.body, crc32(row.directory));
  return crcAtPlace(crc, partition, row.base, row.next) === row.crc;
}

/** Below this size compression costs more than it saves. */
const worthwhileBytes = 512;
/** Level 1: about 900 MB/s of JSON on two cores; higher levels gain little. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 };

/** The zstd frame of the bytes, or null if it is not smaller. */
function compress(bytes: Uint8Array): Uint8Array | null {
  if (bytes.length < worthwhileBytes) return null;
  // One output chunk for the worst case: no second pass, no concatenation.
  const chunkSize = bytes.length + (bytes.length >>> 8) + 512;
  const packed = zstdCompressSync(bytes, { params, chunkSize });
  return packed.length < bytes.length ? packed : null;
}

function decompress(packed: Uint8Array, length: number): Buffer {
  return zstdDecompressSync(packed, { chunkSize: length + 512 });
}

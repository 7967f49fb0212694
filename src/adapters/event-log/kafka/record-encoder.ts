import { constants, zstdCompressSync } from 'node:zlib';
import type { Message } from '#ports/event-log.ts';
import { crc32c } from './crc32c.ts';

/** An append-only buffer for the Kafka protocol whose memory is reused. */
class ByteWriter {
  #memory = Buffer.allocUnsafe(64 * 1024);
  length = 0;

  /** A copy of what was written. */
  copy(): Buffer {
    return Buffer.from(this.#memory.subarray(0, this.length));
  }

  /** The content, valid until the next write. */
  get bytes(): Buffer {
    return this.#memory.subarray(0, this.length);
  }

  /** Discards the content, and also the memory if an unusually large message made it grow. */
  clear(keepBytes = 4 * 1024 ** 2): void {
    this.length = 0;
    if (this.#memory.length > keepBytes) this.#memory = Buffer.allocUnsafe(keepBytes);
  }

  zero(): void {
    this.#reserve(1);
    this.#memory[this.length++] = 0;
  }

  /** A signed whole number below 2^52: zigzag, 7 bits per byte, the lowest first. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value >= 0 ? value * 2 : -value * 2 - 1;
    while (rest >= 0x80) {
      this.#memory[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#memory[this.length++] = rest;
  }

  /** Length and UTF-8. */
  text(text: string): void {
    const length = Buffer.byteLength(text);
    this.varint(length);
    this.#reserve(length);
    this.length += this.#memory.write(text, this.length, 'utf8');
  }

  /** Length and bytes; -1 for null. */
  data(bytes: Uint8Array | null): void {
    this.varint(bytes?.length ?? -1);
    if (bytes === null) return;
    this.#reserve(bytes.length);
    this.#memory.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Prefixes the output of `write` with its length. */
  sized(write: () => void): void {
    this.#reserve(lengthBytesMax);
    const at = this.length;
    this.length += lengthBytesMax;
    write();
    const length = this.length - at - lengthBytesMax;
    this.length = at;
    this.varint(length);
    this.#memory.copyWithin(this.length, at + lengthBytesMax, at + lengthBytesMax + length);
    this.length += length;
  }

  #reserve(length: number): void {
    const needed = this.length + length;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#memory.length * 2));
    this.#memory.copy(larger, 0, 0, this.length);
    this.#memory = larger;
  }
}

const lengthBytesMax = 5;

/** Level 1: several hundred MB/s; higher levels gain little. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Below this size compression costs more than it saves. */
const worthwhileBytes = 256;

const zstd = 4;
const inTransaction = 0x10;
/** Bytes before the checksum, and bytes before the records that it covers. */
const unchecked = 21;
const headBytes = 61;

/** Records of one batch, without the fields that identify the producer. */
export interface EncodedRecords {
  readonly count: number;
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
  readonly firstTimestamp: number;
  readonly maxTimestamp: number;
}

/** The producer of a batch, and the batch's place in its sequence of the partition. */
export interface BatchOwner {
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly sequence: number;
  readonly isTransactional: boolean;
}

const writer = new ByteWriter();

/** `now` (ms) is the time of messages that have none. */
export function encodeRecords(messages: readonly Message[], now: number): EncodedRecords {
  const firstTimestamp = Math.round(messages[0]?.timestamp ?? now);
  let maxTimestamp = firstTimestamp;
  writer.clear();
  messages.forEach((message, index) => {
    const timestamp = Math.round(message.timestamp ?? now);
    if (timestamp > maxTimestamp) maxTimestamp = timestamp;
    writer.sized(() => writeRecord(message, index, timestamp - firstTimestamp));
  });
  const raw = writer.bytes;
  const packed = raw.length < worthwhileBytes ? raw : zstdCompressSync(raw, { params });
  const isCompressed = packed.length < raw.length;
  const bytes = isCompressed ? packed : writer.copy();
  return { count: messages.length, bytes, isCompressed, firstTimestamp, maxTimestamp };
}

function writeRecord({ key, value, headers }: Message, index: number, timeDelta: number): void {
  writer.zero(); // attributes
  writer.varint(timeDelta);
  writer.varint(index);
  writer.text(key);
  writer.data(value);
  const names = Object.keys(headers);
  writer.varint(names.length);
  for (const name of names) {
    writer.text(name);
    writer.text(headers[name] ?? '');
  }
}

/** A record batch of format 2 in the form of a produce request. */
export function recordBatch(records: EncodedRecords, owner: BatchOwner): Buffer {
  const batch = Buffer.allocUnsafe(headBytes + records.bytes.length);
  const codec = records.isCompressed ? zstd : 0;
  batch.writeBigInt64BE(0n, 0); // base offset: the leader assigns it
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeInt32BE(-1, 12); // leader epoch
  batch.writeInt8(2, 16);
  batch.writeInt16BE(codec | (owner.isTransactional ? inTransaction : 0), unchecked);
  batch.writeInt32BE(records.count - 1, 23);
  batch.writeBigInt64BE(BigInt(records.firstTimestamp), 27);
  batch.writeBigInt64BE(BigInt(records.maxTimestamp), 35);
  batch.writeBigInt64BE(BigInt(owner.producerId), 43);
  batch.writeInt16BE(owner.producerEpoch, 51);
  batch.writeInt32BE(owner.sequence, 53);
  batch.writeInt32BE(records.count, 57);
  batch.set(records.bytes, headBytes);
  batch.writeUInt32BE(crc32c(batch.subarray(unchecked)), 17);
  return batch;
}

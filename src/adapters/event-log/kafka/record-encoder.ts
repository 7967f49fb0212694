import { constants, zstdCompressSync } from 'node:zlib';
import type { Message } from '#ports/event-log.ts';
import { ByteWriter } from './byte-writer.ts';
import { crc32c } from './crc32c.ts';

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

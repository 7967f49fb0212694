import { zstdDecompressSync } from 'node:zlib';
import { GatewayError } from '#kernel/errors.ts';
import type { Headers, ReadMessage } from '#ports/event-log.ts';
import { crc32c } from './crc32c.ts';

const codecMask = 0x07;
const zstd = 4;
const inTransaction = 0x10;
const control = 0x20;
/** Type of the control record that aborts a transaction. */
const abortMarker = 0;
const lengthEnd = 12;
const unchecked = 21;
const headBytes = 61;

/** An aborted transaction of a producer, from its first offset up to its marker. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

/** Reads the signed numbers of a record; `at` is the position of the next one. */
class RecordCursor {
  readonly bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  varint(): number {
    let scale = 1;
    let unsigned = 0;
    for (;;) {
      const byte = this.bytes[this.at++] ?? 0;
      unsigned += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
    }
    return unsigned % 2 === 0 ? unsigned / 2 : -(unsigned + 1) / 2;
  }

  data(): Buffer | null {
    const length = this.varint();
    if (length < 0) return null;
    const from = this.at;
    this.at += length;
    return this.bytes.subarray(from, this.at);
  }

  text(): string {
    const length = this.varint();
    const from = this.at;
    this.at += Math.max(length, 0);
    return this.bytes.toString('utf8', from, this.at);
  }
}

/** Headers are decoded on first access. */
class StoredMessage implements ReadMessage {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly #bytes: Buffer;
  readonly #headersAt: number;

  constructor(cursor: RecordCursor, baseOffset: number, baseTimestamp: number) {
    cursor.at++; // attributes
    this.timestamp = baseTimestamp + cursor.varint();
    this.offset = baseOffset + cursor.varint();
    this.key = cursor.text();
    this.value = cursor.data();
    this.#bytes = cursor.bytes;
    this.#headersAt = cursor.at;
  }

  get headers(): Headers {
    const cursor = new RecordCursor(this.#bytes);
    cursor.at = this.#headersAt;
    const headers: Record<string, string> = {};
    for (let left = cursor.varint(); left > 0; left--) {
      const name = cursor.text();
      headers[name] = cursor.text();
    }
    return headers;
  }
}

/** Whole record batches of a fetch response; a truncated batch at the end is left for the next fetch. */
export class RecordSet {
  readonly bytes: Buffer;
  /** The offset after the last whole batch, or null when there is none. */
  readonly next: number | null;
  readonly #aborted: AbortedTransaction[];
  readonly #abortedProducers = new Set<bigint>();
  #at = 0;
  readonly #end: number;

  constructor(bytes: Buffer, aborted: readonly AbortedTransaction[]) {
    this.#aborted = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
    let end = 0;
    let next: number | null = null;
    while (end + headBytes <= bytes.length) {
      const after = end + lengthEnd + bytes.readInt32BE(end + 8);
      if (after < end + headBytes) throw damaged(bytes.readBigInt64BE(end));
      if (after > bytes.length) break;
      next = Number(bytes.readBigInt64BE(end)) + bytes.readInt32BE(end + 23) + 1;
      end = after;
    }
    this.bytes = bytes;
    this.#end = end;
    this.next = next;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#end;
  }

  /** Committed messages of the next batch with an offset of `from` or more, and the offset after the batch. */
  decodeNext(from: number): { readonly messages: ReadMessage[]; readonly next: number } {
    const batch = this.bytes.subarray(
      this.#at,
      this.#at + lengthEnd + this.bytes.readInt32BE(this.#at + 8),
    );
    this.#at += batch.length;
    const base = Number(batch.readBigInt64BE(0));
    const next = base + batch.readInt32BE(23) + 1;
    mustBeIntact(batch, base);
    return { messages: this.#isShown(batch, next) ? messagesOf(batch, base, from) : [], next };
  }

  /** Tracks the transactions of the producers; false for markers and aborted messages. */
  #isShown(batch: Buffer, next: number): boolean {
    const attributes = batch.readInt16BE(unchecked);
    if ((attributes & inTransaction) === 0) return (attributes & control) === 0;
    for (let [first] = this.#aborted; first !== undefined && first.firstOffset < next;) {
      this.#abortedProducers.add(first.producerId);
      this.#aborted.shift();
      [first] = this.#aborted;
    }
    const producer = batch.readBigInt64BE(43);
    if ((attributes & control) === 0) return !this.#abortedProducers.has(producer);
    if (markerOf(batch) === abortMarker) this.#abortedProducers.delete(producer);
    return false;
  }
}

function mustBeIntact(batch: Buffer, base: number): void {
  const intact = batch[16] === 2 && crc32c(batch.subarray(unchecked)) === batch.readUInt32BE(17);
  if (!intact) throw damaged(base);
}

function damaged(base: number | bigint): GatewayError {
  const message = `The record batch at offset ${base} is corrupt or has an old format.`;
  return new GatewayError('log_corrupt', { message });
}

/** The key of a control record: version (int16) and type (int16). */
function markerOf(batch: Buffer): number | null {
  if (batch.readInt32BE(57) === 0) return null;
  const cursor = new RecordCursor(batch.subarray(headBytes));
  cursor.varint();
  cursor.at++;
  cursor.varint();
  cursor.varint();
  return cursor.data()?.readInt16BE(2) ?? null;
}

function recordsOf(batch: Buffer, attributes: number): Buffer {
  const packed = batch.subarray(headBytes);
  const codec = attributes & codecMask;
  if (codec === 0) return packed;
  if (codec === zstd) return zstdDecompressSync(packed);
  const message = `The Kafka codec ${codec} is not supported: producers of the topics use zstd.`;
  throw new GatewayError('log_corrupt', { message });
}

function messagesOf(batch: Buffer, base: number, from: number): ReadMessage[] {
  const attributes = batch.readInt16BE(unchecked);
  const count = batch.readInt32BE(57);
  if (count === 0) return [];
  const firstTimestamp = Number(batch.readBigInt64BE(27));
  const cursor = new RecordCursor(recordsOf(batch, attributes));
  const messages: ReadMessage[] = [];
  for (let i = 0; i < count; i++) {
    const length = cursor.varint();
    const end = cursor.at + length;
    if (length <= 0 || end > cursor.bytes.length) throw damaged(base);
    const message = new StoredMessage(cursor, base, firstTimestamp);
    if (message.offset >= from) messages.push(message);
    cursor.at = end;
  }
  return messages;
}

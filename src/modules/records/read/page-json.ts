import { parseRawJson } from '#kernel/exact-json.ts';
import type { Micros } from '#kernel/time.ts';
import { isoMicros } from '#kernel/time.ts';
import { RowReader, RowWriter } from '#tables/rows.ts';
import { cursorChars, encodeCursor } from '../model/cursor.ts';
import { lastActionOf, type PayloadEncoding, type RecordChange } from '../model/events.ts';
import { isSealed, sealedMark, type SealedPayload } from '../model/sealed-payload.ts';
import type { Slice } from './reader.ts';

/** The columns that `slicePage` reads, in its order. */
export const pageColumns = [
  'position',
  'record_id',
  'first_seen_at',
  'modified_at',
  'last_action',
  'deleted_at',
  'pruned_at',
  'payload_encoding',
  'key_id',
  'payload',
].join(', ');

/** Opens a sealed payload; null when its key was destroyed. */
export type OpenPayload = (keyId: string, payload: SealedPayload) => Buffer | null;

/** Metadata of one record: at most five times, a cursor and the names around them. */
const metadataBytesMax = 400 + cursorChars;

interface Row {
  position: number;
  recordId: string;
  firstSeenAt: Micros;
  modifiedAt: Micros;
  lastAction: string;
  deletedAt: Micros | null;
  prunedAt: Micros | null;
  encoding: PayloadEncoding;
  keyId: string;
  /** Range of the payload in the response. */
  start: number;
  end: number;
}

type Rows = Pick<Slice, 'text' | 'ends' | 'positions' | 'times' | 'hasMore'>;

export interface CutOptions {
  readonly limit: number;
  readonly generation: bigint;
  readonly bytesMax: number;
  readonly open: OpenPayload;
}

/**
 * Turns binary rows into the JSON of records: the payload's text with the metadata spliced in before its last brace. Of
 * the row after `limit` only the presence is reported.
 */
export class RowCutter {
  readonly #answer: Buffer;
  readonly #options: CutOptions;
  readonly #reader: RowReader;
  readonly #row = emptyRow();
  readonly #buffer: TextBuffer;
  readonly #moments = new TimestampCache();
  readonly #ends: number[] = [];
  readonly #positions: number[] = [];
  readonly #times: number[] = [];

  constructor(answer: Buffer, options: CutOptions) {
    this.#answer = answer;
    this.#options = options;
    this.#reader = new RowReader(answer);
    this.#buffer = new TextBuffer(Math.ceil(answer.length * 1.5) + 4096);
  }

  get isDone(): boolean {
    const { limit, bytesMax } = this.#options;
    const { length } = this.#ends;
    const isFull = length >= limit || (this.#buffer.length >= bytesMax && length > 0);
    return isFull || !this.#reader.hasMore;
  }

  /** Converts up to this number of further rows. */
  turn(rows: number): void {
    const { generation, open } = this.#options;
    const row = this.#row;
    const buffer = this.#buffer;
    for (let turned = 0; turned < rows && !this.isDone; turned++) {
      readRow(this.#reader, row);
      if (this.#ends.length > 0) buffer.ascii(',');
      writeRecord(buffer, row, this.#answer, open, metadataOf(row, generation, this.#moments));
      this.#ends.push(buffer.length);
      this.#positions.push(row.position);
      this.#times.push(row.modifiedAt);
    }
  }

  /** The rows converted so far. */
  rows(): Rows {
    return {
      text: this.#buffer.bytes(),
      ends: Uint32Array.from(this.#ends),
      positions: Float64Array.from(this.#positions),
      times: Float64Array.from(this.#times),
      hasMore: this.#reader.hasMore,
    };
  }
}

/** Key ids of sealed payloads in the response: their keys must be loaded before it is sliced. */
export function sealedKeys(answer: Buffer): Set<string> {
  const keys = new Set<string>();
  if (!answer.includes(sealedMark)) return keys;
  const reader = new RowReader(answer);
  const row = emptyRow();
  while (reader.hasMore) {
    readRow(reader, row);
    if (isSealed(row.encoding)) keys.add(row.keyId);
  }
  return keys;
}

function emptyRow(): Row {
  return {
    position: 0,
    recordId: '',
    firstSeenAt: 0,
    modifiedAt: 0,
    lastAction: '',
    deletedAt: null,
    prunedAt: null,
    encoding: 'none',
    keyId: '',
    start: 0,
    end: 0,
  };
}

function readRow(reader: RowReader, row: Row): void {
  row.position = reader.int64();
  row.recordId = reader.string();
  row.firstSeenAt = reader.int64();
  row.modifiedAt = reader.int64();
  row.lastAction = reader.asciiLike(row.lastAction);
  row.deletedAt = reader.nullableInt64();
  row.prunedAt = reader.nullableInt64();
  // The projector writes no other values into the column.
  row.encoding = reader.asciiLike(row.encoding) as PayloadEncoding;
  row.keyId = reader.asciiLike(row.keyId);
  reader.range();
  row.start = reader.start;
  row.end = reader.end;
}

/** The row of a change, as the tables return it: what `RowCutter` reads. */
export function encodePageRow(change: RecordChange): Buffer {
  const { payload, payload_encoding: encoding } = change;
  // The tables have payloads that were only sealed as base64.
  const isText = payload !== null && encoding === 'json+aes256gcm';
  const row = new RowWriter();
  row.int64(change.position);
  row.string(change.record_id);
  row.int64(change.first_seen_at);
  row.int64(change.last_modified_at);
  row.string(lastActionOf(change));
  row.nullableInt64(change.deleted_at === null ? null : Math.max(0, change.deleted_at));
  row.nullableInt64(change.pruned_at);
  row.string(payload === null ? 'none' : encoding);
  row.string(change.key_id ?? '');
  row.bytes(isText ? Buffer.from(Buffer.from(payload).toString('base64')) : (payload ?? empty));
  return row.end();
}

const empty = new Uint8Array();

function writeRecord(
  buffer: TextBuffer,
  row: Row,
  answer: Buffer,
  open: OpenPayload,
  metadata: string,
): void {
  if (row.prunedAt === null && row.encoding === 'json' && !isNumberText(row.recordId)) {
    buffer.splice(answer, row.start, row.end, metadata);
    return;
  }
  const payload = payloadOf(row, answer, open);
  const record =
    payload === null
      ? Buffer.from(`{"id":${JSON.stringify(row.recordId)}}`)
      : withTextId(payload, row.recordId);
  buffer.splice(record, 0, record.length, metadata);
}

/** Null: pruned, never readable, or sealed under a key that was destroyed. */
function payloadOf(row: Row, answer: Buffer, open: OpenPayload): Buffer | null {
  if (row.prunedAt !== null || row.encoding === 'none') return null;
  if (row.encoding === 'json') return answer.subarray(row.start, row.end);
  const { recordId, keyId, encoding } = row;
  const kept = answer.subarray(row.start, row.end);
  const bytes =
    encoding === 'json+aes256gcm' ? Buffer.from(kept.toString('latin1'), 'base64') : kept;
  return open(keyId, { recordId, encoding, bytes });
}

function metadataOf(row: RecordMetadata, generation: bigint, timestamps: TimestampCache): string {
  const deleted = row.deletedAt === null ? 'null' : `"${timestamps.text(row.deletedAt)}"`;
  const pruned = row.prunedAt === null ? '' : `"pruned_at":"${timestamps.text(row.prunedAt)}",`;
  const cursor = encodeCursor({
    generation,
    position: row.position,
    modifiedAt: row.modifiedAt,
  });
  return (
    `"_svc_metadata":{"first_seen_at":"${timestamps.text(row.firstSeenAt)}",` +
    `"last_modified_at":"${timestamps.text(row.modifiedAt)}","last_action":"${row.lastAction}",` +
    `"deleted_at":${deleted},${pruned}"cursor":"${cursor}"}}`
  );
}

/** Metadata of a record, without its payload. */
export type RecordMetadata = Pick<
  Row,
  'recordId' | 'position' | 'firstSeenAt' | 'modifiedAt' | 'lastAction' | 'deletedAt' | 'prunedAt'
>;

/** The JSON of one record as a page has it; without a payload it is its id alone. */
export function recordText(
  standing: RecordMetadata,
  payload: Buffer | null,
  generation: bigint,
): Uint8Array {
  const { recordId } = standing;
  const record =
    payload === null
      ? Buffer.from(`{"id":${JSON.stringify(recordId)}}`)
      : withTextId(payload, recordId);
  const buffer = new TextBuffer(record.length + metadataBytesMax);
  buffer.splice(record, 0, record.length, metadataOf(standing, generation, new TimestampCache()));
  return buffer.bytes();
}

/** Whether the id is the text of a number: a payload then may have the number. */
function isNumberText(recordId: string): boolean {
  const first = recordId.charCodeAt(0);
  const isDigit = (first >= 0x30 && first <= 0x39) || first === 0x2d;
  return isDigit && String(Number(recordId)) === recordId;
}

/** Ids are returned as strings; only a payload that may have a number there is parsed. */
function withTextId(payload: Buffer, recordId: string): Buffer {
  if (!isNumberText(recordId) || !payload.includes(`"id":${recordId}`)) return payload;
  const record = parseRawJson(payload.toString()) as Record<string, unknown>;
  if (typeof record['id'] === 'string') return payload;
  return Buffer.from(JSON.stringify({ ...record, id: recordId }));
}

/** Seconds whose text is cached. */
const secondsKept = 64;

/** Texts of times. Most times of a page share a few seconds, but those of first and last modification alternate. */
class TimestampCache {
  readonly #seconds = new Float64Array(secondsKept).fill(-1);
  readonly #prefixes = Array.from({ length: secondsKept }, () => '');

  text(at: Micros): string {
    const second = Math.floor(at / 1_000_000);
    const micros = String(at - second * 1_000_000).padStart(6, '0');
    return `${this.#prefix(second)}${micros}+00:00`;
  }

  #prefix(second: number): string {
    const position = second % secondsKept;
    if (this.#seconds[position] !== second) {
      this.#seconds[position] = second;
      this.#prefixes[position] = isoMicros(second * 1_000_000).slice(0, 20);
    }
    return this.#prefixes[position] ?? '';
  }
}

/** Growing text on a buffer of its own, so that it can be moved to another thread. */
class TextBuffer {
  #buffer: Buffer;
  length = 0;

  constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(bytes);
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  ascii(text: string): void {
    this.#reserve(text.length);
    this.length += this.#buffer.write(text, this.length, 'latin1');
  }

  /** The JSON object from `start` to `end` with a last member, `tail`, which also closes it. */
  splice(source: Buffer, start: number, end: number, tail: string): void {
    this.#reserve(end - start + metadataBytesMax);
    source.copy(this.#buffer, this.length, start, end - 1);
    this.length += end - 1 - start;
    if (end - start > 2) this.#buffer[this.length++] = 0x2c;
    this.length += this.#buffer.write(tail, this.length, 'latin1');
  }

  #reserve(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, this.length);
    this.#buffer = grown;
  }
}

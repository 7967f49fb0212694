import { GatewayError } from '#kernel/errors.ts';
import type { RecordId } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { recordIdRule, recordIdText } from '#kernel/record-id.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { RecordCommandValue } from '../model/commands.ts';

/** The records of one call in their stored form, each id once. */
export interface CheckedRecords {
  readonly ids: readonly RecordId[];
  /** The JSON of each; its `id` is a string. */
  readonly texts: readonly string[];
  /** Deletion times of the caller, in µs; 0 = none. Empty without deletions. */
  readonly deletedAt: readonly number[];
}

/** The stored part of the records: all of it, or (for deletions) the id. */
type StoredPart = 'whole' | 'id';

const metadataKey = '_svc_metadata';

/**
 * Validates the complete call before any part of it is sent. Of records with the same id the last counts.
 * @throws GatewayError `invalid_sync_record`, `record_too_large`; both with the record
 */
export function checkRecords(
  records: readonly Json[],
  model: string,
  kept: StoredPart,
): CheckedRecords {
  const places = new Map<string, number>();
  const ids: RecordId[] = [];
  const texts: string[] = [];
  const deletedAt: number[] = [];
  for (let index = 0; index < records.length; index++) {
    const record = objectOf(records[index], model, index);
    const id = idOf(record['id'], model, index);
    const text = kept === 'id' ? `{"id":${JSON.stringify(id)}}` : payloadText(record, id);
    mustFit(text, id, model);
    let position = places.get(id);
    if (position === undefined) {
      position = ids.push(id) - 1;
      places.set(id, position);
    }
    texts[position] = text;
    if (kept === 'id') deletedAt[position] = microsOf(record['deletedAt']);
  }
  return { ids, texts, deletedAt };
}

/** Bytes of UTF-8 that one unit of a text takes at most. */
const unitBytesMax = 3;

function mustFit(text: string, id: string, model: string): void {
  if (text.length * unitBytesMax <= limits.recordBytesMax) return;
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.recordBytesMax) throw tooLarge(id, model, bytes);
}

/** @throws GatewayError `invalid_sync_record` */
function idOf(input: unknown, model: string, index: number): RecordId {
  const id = recordIdText(input, limits.recordIdCharsMax);
  if (id !== null) return id;
  throw new GatewayError('invalid_sync_record', {
    message: `Record ${index} of ${model} needs an "id": ${recordIdRule(limits.recordIdCharsMax)}.`,
  });
}

function objectOf(input: Json | undefined, model: string, index: number): Record<string, Json> {
  if (isJsonObject(input)) return input;
  throw new GatewayError('invalid_sync_record', {
    message: `Record ${index} of ${model} is not an object.`,
  });
}

function payloadText(record: Record<string, Json>, id: string): string {
  if (record['id'] === id && !(metadataKey in record)) return JSON.stringify(record);
  const { [metadataKey]: _removed, ...rest } = record;
  return JSON.stringify({ ...rest, id });
}

function microsOf(input: Json | undefined): number {
  const millis = typeof input === 'string' ? Date.parse(input) : NaN;
  return Number.isNaN(millis) || millis <= 0 ? 0 : millis * 1000;
}

function tooLarge(id: string, model: string, bytes: number): GatewayError {
  return new GatewayError('record_too_large', {
    message: `Record "${id}" of ${model} has ${bytes} bytes of JSON; the limit is ${limits.recordBytesMax}.`,
  });
}

/** The columns of one command's records. */
export type Columns = Pick<
  RecordCommandValue,
  'encoding' | 'ids' | 'ends' | 'payloads' | 'deleted_at'
>;

export const noColumns: Columns = {
  encoding: 'none',
  ids: [],
  ends: [],
  payloads: Buffer.alloc(0),
  deleted_at: [],
};

/** Seals the payloads of one command together; null: plain text. */
type SealBlock =
  | ((payloads: Uint8Array, owners: Pick<Columns, 'ids' | 'ends'>) => Uint8Array)
  | null;

/**
 * Splits into commands of up to 1000 records and 1 MB. Unsealed payloads are in a reused buffer: they must be encoded
 * or copied before the next command is packed.
 */
export function* commandColumns(records: CheckedRecords, seal: SealBlock): Generator<Columns> {
  let from = 0;
  while (from < records.ids.length) {
    const part = partFrom(records, from, seal);
    yield part;
    from += part.ids.length;
  }
}

/** Buffer for the joined payloads of one command, used synchronously: room for a full command and one more record. */
const joined = Buffer.allocUnsafeSlow(limits.commandBytesMax + 3 * limits.recordBytesMax);

/** The records from `from` on that fit in one command. */
function partFrom(records: CheckedRecords, from: number, seal: SealBlock): Columns {
  const last = Math.min(records.ids.length, from + limits.commandRecordsMax);
  const ends: number[] = [];
  let end = 0;
  let target = from;
  for (; target < last; target++) {
    const text = records.texts[target] ?? '';
    if (text.length > limits.recordBytesMax) throw new RangeError('a record over the limit');
    const next = end + joined.write(text, end);
    if (next > limits.commandBytesMax && target > from) break;
    ends.push(next);
    end = next;
  }
  const ids = records.ids.slice(from, target);
  const deletedAt = records.deletedAt.slice(from, target);
  const payloads = joined.subarray(0, end);
  return {
    encoding: seal === null ? 'json' : 'json-block+aes256gcm',
    ids,
    ends,
    payloads: seal === null ? payloads : seal(payloads, { ids, ends }),
    deleted_at: deletedAt.some((at) => at > 0) ? deletedAt : [],
  };
}

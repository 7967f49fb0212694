import { GatewayError } from '#kernel/errors.ts';
import type { RecordId } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { recordIdRule, recordIdText } from '#kernel/record-id.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';

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

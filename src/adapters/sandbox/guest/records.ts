import { recordIdRule, recordIdText } from '#kernel/record-id.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { call, callText, coded, throwIfAborted } from './bridge.ts';
import { log } from './log.ts';
import { isObject } from './quick-validate.ts';
import { toText, utf8Length } from './text.ts';
import { checkRecord } from './validation.ts';

/** Limit of one host call; longer lists are split. */
const recordsPerCall = 1000;
const charsPerCall = 3_000_000;
/** JSON of one record in UTF-8 (docs/reference/limits.md#records). */
const recordBytesMax = 1_000_000;
/** Longest UTF-8 encoding of a UTF-16 code unit: shorter texts need no counting. */
const bytesPerChar = 3;
const idCharsMax = 255;
const metadataKey = '_svc_metadata';

type Write = 'batchSave' | 'batchUpdate' | 'batchDelete';
type Row = Readonly<Record<string, unknown>>;
/** What code gives as an id. */
type IdInput = string | number | bigint;

/** @throws Error that names the declared models */
function checkModel(model: unknown, models: readonly string[]): asserts model is string {
  if (typeof model === 'string' && models.includes(model)) return;
  const declared = models.join(', ');
  const message = `The model '${String(model)}' is not included in the declared sync models: ${declared}.`;
  throw coded(new Error(message), 'unknown_model');
}

/** The record methods of the handle of syncs. */
export function recordMethods(models: readonly string[]) {
  const write =
    (method: Write) =>
    async (rows: unknown, model: unknown): Promise<true> => {
      throwIfAborted();
      if (rows === undefined || rows === null || (rows as unknown[]).length === 0) return true;
      checkModel(model, models);
      if (!Array.isArray(rows)) throw new TypeError(`${method} takes a list of records`);
      for (const chunk of await chunksOf(method, rows, model)) await callText(method, chunk);
      return true;
    };
  const getRecordsById = async (ids: unknown, model: unknown) => {
    checkModel(model, models);
    return recordsById(Array.from(ids as Iterable<IdInput>), model);
  };
  const deleting =
    (method: 'trackDeletesEnd' | 'deleteRecordsFromPreviousExecutions') =>
    async (model: unknown) => {
      checkModel(model, models);
      return (await call(method, { model })).value;
    };
  return {
    batchSave: write('batchSave'),
    batchUpdate: write('batchUpdate'),
    batchDelete: write('batchDelete'),
    trackDeletesStart: async (model: unknown): Promise<void> => {
      checkModel(model, models);
      await call('trackDeletesStart', { model });
    },
    trackDeletesEnd: deleting('trackDeletesEnd'),
    deleteRecordsFromPreviousExecutions: deleting('deleteRecordsFromPreviousExecutions'),
    getRecordsById,
    getRecordsByIds: getRecordsById,
    listRecords: (model: unknown, options?: { cursor?: string }) => {
      checkModel(model, models);
      return listRecords(model, options?.cursor ?? null);
    },
    setMergingStrategy: async (options: unknown, model: unknown): Promise<void> => {
      checkModel(model, models);
      const { strategy } = (options ?? {}) as { strategy?: unknown };
      if (strategy !== 'override' && strategy !== 'ignore_if_modified_after') {
        throw new TypeError('The strategy is override or ignore_if_modified_after');
      }
      await call('setMergingStrategy', { model, strategy });
    },
  };
}

/**
 * The JSON texts of a list's calls. The whole list is checked before the first call: a bad record saves nothing. Of
 * records with one id the last one is kept.
 */
async function chunksOf(method: Write, rows: readonly unknown[], model: string): Promise<string[]> {
  const texts = new Map<string, string>();
  for (const row of rows) {
    const id = idOf(row, model);
    texts.delete(id);
    if (method === 'batchDelete') {
      texts.set(id, JSON.stringify({ id }));
      continue;
    }
    const text = rowJson(row as Row, id, model);
    // As stored, but with the id in its original form.
    const stored = (): JsonObject => ({
      ...(JSON.parse(text) as JsonObject),
      ...originalId(row),
    });
    checkRecord(model, row, stored, method === 'batchUpdate');
    texts.set(id, text);
  }
  const doubles = rows.length - texts.size;
  if (doubles > 0) {
    const message = `${method}: ${doubles} of ${rows.length} records of ${model} repeat an id; the last of each is kept.`;
    await log(message, { level: 'warn' });
  }
  const chunks: string[] = [];
  let records: string[] = [];
  let chars = 0;
  const close = () => {
    chunks.push(`{"model":${JSON.stringify(model)},"records":[${records.join(',')}]}`);
    records = [];
    chars = 0;
  };
  for (const text of texts.values()) {
    if (records.length === recordsPerCall || chars + text.length > charsPerCall) close();
    records.push(text);
    chars += text.length;
  }
  close();
  return chunks;
}

function idOf(row: unknown, model: string): string {
  const id = recordIdText((row as { id?: unknown } | null | undefined)?.id, idCharsMax);
  if (id !== null) return id;
  const message = `A record of ${model} has no valid id: ${recordIdRule(idCharsMax)}.`;
  throw coded(new Error(message), 'invalid_sync_record');
}

/** A bigint is no JSON: it stays text. */
function originalId(row: unknown): JsonObject {
  const { id } = row as { readonly id: string | number | bigint };
  return typeof id === 'bigint' ? {} : { id };
}

function rowJson(row: Row, id: string, model: string): string {
  const isStored = row['id'] === id && isObject(row) && !(metadataKey in row);
  const text = JSON.stringify(isStored ? row : asStored(row, id));
  if (text.length * bytesPerChar <= recordBytesMax || utf8Length(text) <= recordBytesMax)
    return text;
  throw coded(new Error(`The record ${id} of ${model} is larger than 1 MB.`), 'record_too_large');
}

function asStored({ [metadataKey]: _, ...plain }: Row, id: string): Row {
  return { ...plain, id };
}

/** Keyed by the requested ids. No record has an id that none can have. */
async function recordsById(
  ids: readonly IdInput[],
  model: string,
): Promise<Map<IdInput, JsonObject>> {
  const texts = ids.map((id) => recordIdText(id, idCharsMax));
  const possible = texts.filter((text) => text !== null);
  const found = new Map<string | null, JsonObject>();
  for (let at = 0; at < possible.length; at += recordsPerCall) {
    const part = possible.slice(at, at + recordsPerCall);
    const { value } = await call('getRecordsById', { model, ids: part });
    for (const record of value) found.set(toText(record['id']), record);
  }
  const result = new Map<IdInput, JsonObject>();
  for (const [index, id] of ids.entries()) {
    const record = found.get(texts[index] ?? null);
    if (record !== undefined) result.set(id, record);
  }
  return result;
}

async function* listRecords(model: string, from: string | null): AsyncGenerator<JsonObject> {
  let cursor = from;
  do {
    const { value } = await call('listRecords', { model, cursor, limit: 100 });
    yield* value.records;
    cursor = value.next_cursor;
  } while (cursor !== null);
}

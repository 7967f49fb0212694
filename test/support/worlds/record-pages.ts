import { afterAll, afterEach, expect } from 'vitest';
import type { PageQuery, RecordReader, RecordSource } from '#modules/records/read/reader.ts';
import type { QueryableStore } from '#ports/projection-store.ts';
import type { RecordModel } from '../judges/record-model.ts';
import { dropTables, openTestStore, parsePage, type ReadRecord } from './projection.ts';

/** The store of a test file: opened while the file loads, emptied after each test, closed at the end. */
export async function storeOfFile(): Promise<QueryableStore> {
  const opened = await openTestStore();
  afterEach(() => dropTables(opened.store));
  afterAll(() => opened[Symbol.asyncDispose]());
  return opened.store;
}

/** The first 100 records of the model's stream, unless the query says otherwise. */
export const question = (model: RecordModel, query: Partial<PageQuery> = {}): PageQuery => ({
  stream: model.stream,
  cursor: null,
  modifiedAfter: null,
  actions: null,
  ids: null,
  limit: 100,
  ...query,
});

export async function pageOf(reader: RecordReader, query: PageQuery) {
  const page = await reader.page(query);
  const parsed = parsePage(page.body);
  expect(parsed.next_cursor).toBe(page.nextCursor);
  expect(parsed.records).toHaveLength(page.records);
  return parsed;
}

/** All records from the query's cursor on, page by page. */
export async function walk(reader: RecordReader, query: PageQuery): Promise<ReadRecord[]> {
  const found: ReadRecord[] = [];
  for (let { cursor } = query; ;) {
    const page = await pageOf(reader, { ...query, cursor });
    found.push(...page.records);
    expect(page.records.length).toBeLessThanOrEqual(query.limit);
    cursor = page.next_cursor;
    if (cursor === null) return found;
    expect(page.records).toHaveLength(query.limit);
    expect(cursor).toBe(page.records.at(-1)?._svc_metadata.cursor);
  }
}

export const idsOf = (found: readonly { id: string }[]): string[] => found.map(({ id }) => id);

/** A source that counts what is asked of it. */
export function counted(source: RecordSource): { source: RecordSource; slices: () => number } {
  let slices = 0;
  const slice: RecordSource['slice'] = (query) => {
    slices++;
    return source.slice(query);
  };
  return { source: { ...source, slice }, slices: () => slices };
}

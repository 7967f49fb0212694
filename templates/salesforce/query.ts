import type { SvcSync } from 'svc';

export const apiPath = '/services/data/v62.0';

/** At most so many records a response. */
const pageSize = 2000;

interface ChangesQuery {
  /** Such as `Contact`. */
  type: string;
  fields: readonly string[];
  /** ISO 8601; empty: all. */
  since: string;
  /** The record after which an interrupted run goes on. */
  lastId: string | undefined;
}

/**
 * Pages of the records that have changed since, by id, with those in the recycle bin: a record that changes meanwhile
 * moves no other, and an id stays good where a query locator has ended.
 */
export async function* changedRecords<Row extends { Id: string }>(
  svc: Pick<SvcSync, 'get'>,
  { type, fields, since, lastId }: ChangesQuery,
): AsyncGenerator<Row[]> {
  for (let after = lastId; ;) {
    const conditions = [
      ...(since === '' ? ['IsDeleted = false'] : [`SystemModstamp >= ${since}`]),
      ...(after === undefined ? [] : [`Id > '${after}'`]),
    ];
    const query = [
      `SELECT ${fields.join(', ')} FROM ${type}`,
      `WHERE ${conditions.join(' AND ')}`,
      `ORDER BY Id LIMIT ${pageSize}`,
    ];
    const { data } = await svc.get<{ records: Row[] }>({
      endpoint: `${apiPath}/queryAll`,
      params: { q: query.join(' ') },
      retries: 5,
    });
    after = data.records.at(-1)?.Id;
    if (after === undefined) return;
    yield data.records;
  }
}

/** Salesforce sends `+0000` for UTC, which is not ISO 8601 beside colons. */
export const isoOf = (time: string | null | undefined): string | null =>
  time?.replace(/\+0000$/, 'Z') ?? null;

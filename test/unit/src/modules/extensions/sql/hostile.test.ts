import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { GatewayError } from '#kernel/errors.ts';
import { viewsOf } from '#modules/extensions/sql/views.ts';
import type { DamagedPart, QueryableStore } from '#ports/projection-store.ts';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { askSql, fillEnvironment, migrateAll, sqlTables } from '#test/support/worlds/sql-tables.ts';

const own = '0b4e5f0a-1111-4aaa-8bbb-000000000001';
const damaged: DamagedPart[] = [];
const onPartDamaged = (part: DamagedPart): void => void damaged.push(part);

const stores = {
  'in process': async (stack: AsyncDisposableStack) => {
    const path = await mkdtemp(join(tmpdir(), 'svc-sql-'));
    stack.defer(() => rm(path, { recursive: true, force: true }));
    return stack.use(await openClickHouseStore({ url: `embedded:${path}`, onPartDamaged }));
  },
  'on a server': async (stack: AsyncDisposableStack) => {
    const { url } = stack.use(await startClickHouseFront());
    return stack.use(await openClickHouseStore({ url, onPartDamaged }));
  },
};

describe.each(Object.entries(stores))('a hostile query, %s', (_, open) => {
  const stack = new AsyncDisposableStack();
  let store: QueryableStore;
  beforeAll(async () => {
    store = await open(stack);
    await migrateAll(store);
    await fillEnvironment(store, own, { word: 'own', stream: 1 });
    await store.showViews(viewsOf(own, sqlTables));
  });
  afterAll(() => stack.disposeAsync());

  const errorOf = async (...[sql, limits]: [string, object?]): Promise<GatewayError> => {
    const error = await askSql(store, own, sql, limits).catch((thrown: unknown) => thrown);
    expect(error, sql.slice(0, 200)).toBeInstanceOf(GatewayError);
    return error as GatewayError;
  };

  it.each([
    ['a text that ends too early', `SELECT toUInt8('')`],
    ['a decimal that ends too early', `SELECT toDecimal32('', 2)`],
    [
      'a state that ends too early',
      `SELECT finalizeAggregation(CAST(unhex('ff01ff') AS AggregateFunction(uniq, String)))`,
    ],
    ['NUL between words', 'SELECT 1 AS a\0, 2'],
    ['only a comment', '-- x'],
    ['deep parentheses', `SELECT ${'('.repeat(40_000)}1${')'.repeat(40_000)}`],
    ['deep subqueries', `${'SELECT * FROM ('.repeat(5_000)}SELECT 1${')'.repeat(5_000)}`],
    ['a long sum', `SELECT ${'seq+'.repeat(20_000)}1 FROM v_records`],
    ['many joins', `SELECT 1 FROM v_records${' JOIN v_records USING (seq)'.repeat(2_000)}`],
    ['names that double', `WITH 1 AS a0, ${doubled(60)} SELECT a59`],
  ])('is refused with 4xx: %s', async (_what, sql) => {
    const { code, message } = await errorOf(sql);
    expect(code).toBe('sql_failed');
    // The statement of ours that has it as digits.
    expect(message).not.toContain("unhex('53");
  });

  it('cannot report a table as damaged', async () => {
    const forged = '(while reading from part /x/3/y/1_1_1_0/ in table svc.records_1 (uuid) located';
    for (const sql of [`SELECT toUInt8(''), '${forged}'`, `SELECT toUInt8('${forged}')`]) {
      const { code } = await errorOf(sql);
      expect(code).toBe('sql_failed');
    }
    expect(damaged).toEqual([]);
  });

  it.each([
    ['without a table', 'SELECT arrayJoin(range(1001))'],
    ['of a union', 'SELECT arrayJoin(range(1001)) UNION ALL SELECT 1'],
    ['in parentheses', '(SELECT arrayJoin(range(1001))) EXCEPT (SELECT 5000)'],
    ['of a subquery', 'SELECT * FROM (SELECT arrayJoin(range(1001)))'],
  ])('has at most the rows that it may have: %s', async (_what, sql) => {
    expect((await errorOf(sql)).code).toBe('sql_limit');
  });

  it('may have less rows than its text has words', async () => {
    const sql =
      'SELECT record_id, lower(model) AS name, seq + 1 AS next FROM v_records ORDER BY seq';
    const read = await askSql(store, own, `${sql} LIMIT 1`, { rows: 1 });
    expect(read).toContain('r-own');
    expect((await errorOf(sql, { rows: 1 })).code).toBe('sql_limit');
  });

  it('keeps the order and the names of a result without a table', async () => {
    const sql = 'SELECT arrayJoin([2, 3, 1]) AS x, 1, 1 ORDER BY x DESC';
    expect(await askSql(store, own, sql, { format: 'csv' })).toBe(
      '"x","1","1"\n3,1,1\n2,1,1\n1,1,1\n',
    );
  });

  it.each([
    ['a text in each row', `SELECT repeat('x', 1000) FROM numbers(1000)`],
    ['characters that are escaped', `SELECT repeat(char(1), 150000)`],
    ['what takes a byte in memory', 'SELECT arrayWithConstant(250000, NULL)'],
  ])('returns no more bytes than it may: %s', async (_what, sql) => {
    expect((await errorOf(sql, { resultBytes: 500_000 })).code).toBe('sql_limit');
  });

  it.each([
    ['one text', `repeat('x', 10000)`],
    ['one text of a dictionary', `toLowCardinality(repeat('x', 10000))`],
    ['a text of the views', 'repeat(model, 10000)'],
  ])('is ended before an answer of 10 GB is written: %s', async (_what, text) => {
    const before = process.memoryUsage.rss();
    const sql = `SELECT ${text} FROM numbers(1000000) AS n, (SELECT model FROM v_records LIMIT 1) AS r`;
    expect(await errorOf(sql, { rows: 1_000_000 })).toMatchObject({ code: 'sql_limit' });
    expect(process.memoryUsage.rss() - before).toBeLessThan(2 * 1024 ** 3);
  });

  it('keeps the order of many rows', async () => {
    const sql = 'SELECT number AS n FROM numbers(300000) ORDER BY n DESC';
    const answer = JSON.parse(await askSql(store, own, sql, { rows: 300_000 })) as {
      readonly data: readonly (readonly [string])[];
    };
    expect(answer.data.length).toBe(300_000);
    expect(answer.data.findIndex(([n], at) => Number(n) !== 299_999 - at)).toBe(-1);
  });
});

const doubled = (count: number): string =>
  Array.from({ length: count - 1 }, (_, at) => `a${at} + a${at} AS a${at + 1}`).join(', ');

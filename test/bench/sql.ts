/** Pages of records while a SQL query reads 10,000,000 rows, in pairs with pages alone: `sql.ts [rows] [pairs]`. */
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { ConnectionUid, EnvironmentUid } from '#kernel/ids.ts';
import { viewsOf } from '#modules/extensions/sql/views.ts';
import { pageRows, streamTable } from '#modules/records/read/queries.ts';
import { recordTables } from '#modules/records/read/tables.ts';
import type { QueryableStore } from '#ports/projection-store.ts';
import { askSql, migrateAll, sqlTables } from '../support/worlds/sql-tables.ts';
import { p50p99, percentile, report, round, withFolder } from './measure.ts';

const [rows = '10000000', pairs = '12'] = process.argv.slice(2);
const uid = '0b4e5f0a-4444-4aaa-8bbb-000000000004';
const stream = {
  environmentUid: uid as EnvironmentUid,
  connectionUid: 'connection' as ConnectionUid,
  model: 'Contact',
  variant: 'base',
};
const table = streamTable(stream, 1, recordTables(1));
const pagesPerRound = 60;
const pageRecords = 1_000_000;

/** Records of one stream, which pages and queries read. */
async function fill(store: QueryableStore): Promise<void> {
  const { records, streams } = recordTables(1);
  await store.command(
    `INSERT INTO ${streams} VALUES (0, '${uid}', ${table.number}, 'crm', 'me', 'connection', 'Contact', 'base', 1)`,
  );
  for (let first = 0; first < Number(rows); first += pageRecords) {
    await store.command(
      `INSERT INTO ${records} SELECT 0, ${table.number}, number + 1, concat('record-', toString(number)), number + 1, 0, 'g',
         now64(6), now64(6), 'ADDED', NULL, NULL,
         concat('{"id":"', toString(number), '","name":"', hex(sipHash128(number)), '","city":"', hex(sipHash128(number + 1)), '"}'),
         'json', '', '', number
       FROM numbers(${first}, ${Math.min(pageRecords, Number(rows) - first)})`,
    );
  }
}

/** Milliseconds of pages at places spread over the stream. */
async function pages(store: QueryableStore, round: number): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < pagesPerRound; at++) {
    const after = Math.floor((Number(rows) * ((at * 37 + round * 11) % pagesPerRound)) / 61);
    const began = performance.now();
    await pageRows(
      store,
      table,
      { after, from: 0 },
      { actions: null, ids: null, limit: 100, until: null },
    );
    times.push(performance.now() - began);
  }
  return times;
}

const query =
  "SELECT JSONExtractString(payload, 'city') AS city, count() AS n, uniqExact(record_id) FROM v_records GROUP BY city ORDER BY n DESC LIMIT 10";

/** Runs the query again and again until the pages are read. */
async function whileQueried(store: QueryableStore, task: () => Promise<number[]>) {
  let isRead = false;
  const outcomes = new Map<string, number>();
  const asking = (async () => {
    while (!isRead) {
      const outcome = await askSql(store, uid, query, { seconds: 5 }).then(
        () => 'answered',
        (error: unknown) => (error instanceof GatewayError ? error.message : String(error)),
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  })();
  const times = await task();
  isRead = true;
  await asking;
  return { times, outcomes };
}

await withFolder(async (folder) => {
  await using store = await openClickHouseStore({ url: `embedded:${folder}` });
  await migrateAll(store);
  await fill(store);
  await store.showViews(viewsOf(uid, sqlTables));
  const alone: number[] = [];
  const beside: number[] = [];
  const ratios: number[] = [];
  const outcomes = new Map<string, number>();
  await pages(store, 0);
  for (let pair = 1; pair <= Number(pairs); pair++) {
    const quiet = await pages(store, pair);
    const queried = await whileQueried(store, () => pages(store, pair));
    alone.push(...quiet);
    beside.push(...queried.times);
    ratios.push(percentile(queried.times, 50) / percentile(quiet, 50));
    for (const [name, count] of queried.outcomes)
      outcomes.set(name, (outcomes.get(name) ?? 0) + count);
  }
  report({
    rows: Number(rows),
    ...p50p99('alone', alone),
    ...p50p99('beside', beside),
    ratioOfMedians: round(percentile(ratios, 50)),
  });
  console.log('queries', Object.fromEntries(outcomes));
});

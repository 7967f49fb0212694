import { join } from 'node:path';
/** The floors that ratios are taken to: raw `node:sqlite` appends, and inserts by `@clickhouse/client` alone. */
import { DatabaseSync } from 'node:sqlite';
import { createClient, type ClickHouseClientConfigOptions } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import { report, seconds, withFolder } from './measure.ts';
import { contact } from './payloads.ts';

const records = Number(process.argv[2] ?? 200_000);
const batchSize = 1000;
const batches = Array.from({ length: records / batchSize }, (_, batch) =>
  Array.from({ length: batchSize }, (_, at) => JSON.stringify(contact(batch * batchSize + at))),
);

/** WAL, synchronous FULL, one row per payload, one transaction per 1000. */
function rawAppends(folder: string): void {
  const db = new DatabaseSync(join(folder, 'raw.sqlite'));
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE log (offset INTEGER PRIMARY KEY, value BLOB)',
  );
  const insert = db.prepare('INSERT INTO log (value) VALUES (?)');
  for (const batch of batches) {
    db.exec('BEGIN');
    for (const payload of batch) insert.run(payload);
    db.exec('COMMIT');
  }
  db.close();
}

const columns = `log_partition UInt16, stream_id UInt64, position UInt64, record_id String CODEC(ZSTD(1)), version UInt64,
  superseded UInt8, first_seen_at DateTime64(6), modified_at DateTime64(6), last_action LowCardinality(String), payload String CODEC(ZSTD(1))`;

async function clientInserts(folder: string): Promise<number> {
  // It implements the client's interface, but declares it with another copy of the same types.
  type Injected = NonNullable<ClickHouseClientConfigOptions['connection']>;
  const connection = createChdbConnection({ path: join(folder, 'tables') }) as unknown as Injected;
  const client = createClient({ connection });
  await client.command({
    query: `CREATE TABLE records (${columns}) ENGINE = ReplacingMergeTree(version, superseded) PARTITION BY log_partition
      ORDER BY (stream_id, position, record_id) SETTINGS index_granularity = 512, fsync_after_insert = 1, fsync_part_directory = 1`,
  });
  const at = '2026-02-01 08:00:00.123456';
  let position = 0;
  const rowsPerInsert = 10;
  const insertSeconds = await seconds(async () => {
    for (let first = 0; first < batches.length; first += rowsPerInsert) {
      const values = batches
        .slice(first, first + rowsPerInsert)
        .flat()
        .map((payload) => {
          position += 1;
          return {
            log_partition: 0,
            stream_id: '7',
            position,
            record_id: payload.slice(7, 31),
            version: position,
            superseded: 0,
            first_seen_at: at,
            modified_at: at,
            last_action: 'ADDED',
            payload,
          };
        });
      await client.insert({ table: 'records', values, format: 'JSONEachRow' });
    }
  });
  await client.close();
  return insertSeconds;
}

await withFolder(async (folder) => {
  const rawSeconds = await seconds(async () => rawAppends(folder));
  const insertSeconds = await clientInserts(folder);
  report({
    raw_appends_per_s: Math.round(records / rawSeconds),
    client_inserts_per_s: Math.round(records / insertSeconds),
  });
});

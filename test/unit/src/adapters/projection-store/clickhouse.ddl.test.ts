import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openClickHouseStore,
  createStatement,
  dropStatement,
} from '#adapters/projection-store/clickhouse.ts';
import { databaseStatement } from '#adapters/projection-store/server.ts';
import { records } from '#modules/records/projection/definition.ts';
import type { MigrationStep, ProjectionStore } from '#ports/projection-store.ts';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';

const definitions = records
  .tableSet(2)
  .migrations.flatMap(({ steps }): readonly MigrationStep[] => steps)
  .filter((step) => typeof step !== 'string');
const cluster = 'gateway';

/** A keeper in memory is enough to make replicated tables; it takes no inserts, and runs no ON CLUSTER. */
const config = `<clickhouse>
  <zookeeper><implementation>testkeeper</implementation></zookeeper>
  <macros><shard>1</shard><replica>a</replica></macros>
</clickhouse>`;

describe('the statements that make tables', () => {
  let front: ClickHouseFront;
  let store: ProjectionStore;
  beforeAll(async () => {
    front = await startClickHouseFront({ config });
    store = await openClickHouseStore({ url: front.url });
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await front[Symbol.asyncDispose]();
  });

  const parsed = async (statement: string): Promise<string> =>
    (await store.queryBinary(`EXPLAIN AST ${statement}`)).toString();

  it('keep a table on one node', () => {
    const [first] = definitions;
    expect(createStatement(first!, null)).toMatchInlineSnapshot(
      `"CREATE TABLE IF NOT EXISTS records_g2 (log_partition UInt16, stream_id UInt64, position UInt64, record_id String CODEC(ZSTD(1)), version UInt64, superseded UInt8, generation LowCardinality(String), first_seen_at DateTime64(6, 'UTC'), modified_at DateTime64(6, 'UTC'), last_action LowCardinality(String), deleted_at Nullable(DateTime64(6, 'UTC')), pruned_at Nullable(DateTime64(6, 'UTC')), payload String CODEC(ZSTD(1)), payload_encoding LowCardinality(String), key_id LowCardinality(String), error LowCardinality(String), log_offset Int64 DEFAULT -1, INDEX actions last_action TYPE set(8) GRANULARITY 1) ENGINE = ReplacingMergeTree(version, superseded) PARTITION BY log_partition ORDER BY (stream_id, position, record_id) SETTINGS index_granularity = 512, min_bytes_for_wide_part = 268435456, allow_experimental_replacing_merge_with_cleanup = 1, fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 1000, old_parts_lifetime = 60, cleanup_delay_period = 1, cleanup_delay_period_random_add = 0, max_cleanup_delay_period = 1"`,
    );
  });

  it('replicate every table and make every view on all nodes of a cluster', () => {
    expect(definitions.map((one) => createStatement(one, cluster))).toMatchInlineSnapshot(`
      [
        "CREATE TABLE IF NOT EXISTS records_g2 ON CLUSTER \`gateway\` (log_partition UInt16, stream_id UInt64, position UInt64, record_id String CODEC(ZSTD(1)), version UInt64, superseded UInt8, generation LowCardinality(String), first_seen_at DateTime64(6, 'UTC'), modified_at DateTime64(6, 'UTC'), last_action LowCardinality(String), deleted_at Nullable(DateTime64(6, 'UTC')), pruned_at Nullable(DateTime64(6, 'UTC')), payload String CODEC(ZSTD(1)), payload_encoding LowCardinality(String), key_id LowCardinality(String), error LowCardinality(String), log_offset Int64 DEFAULT -1, INDEX actions last_action TYPE set(8) GRANULARITY 1) ENGINE = ReplicatedReplacingMergeTree(version, superseded) PARTITION BY log_partition ORDER BY (stream_id, position, record_id) SETTINGS index_granularity = 512, min_bytes_for_wide_part = 268435456, allow_experimental_replacing_merge_with_cleanup = 1, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800",
        "CREATE TABLE IF NOT EXISTS stream_segments_g2 ON CLUSTER \`gateway\` (log_partition UInt16, stream_id UInt64, segment UInt64, known AggregateFunction(groupBitmap, UInt32), dead AggregateFunction(groupBitmapIf, UInt32, UInt8), modified_at SimpleAggregateFunction(max, DateTime64(6, 'UTC'))) ENGINE = ReplicatedAggregatingMergeTree PARTITION BY log_partition ORDER BY (stream_id, segment) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800",
        "CREATE MATERIALIZED VIEW IF NOT EXISTS stream_segments_g2_of_records ON CLUSTER \`gateway\` TO stream_segments_g2 AS 
          SELECT log_partition, stream_id, intDiv(position, 4096) AS segment,
            groupBitmapState(toUInt32(position % 4096)) AS known,
            groupBitmapIfState(toUInt32(position % 4096), superseded) AS dead,
            max(if(superseded = 1, toDateTime64(0, 6, 'UTC'), records_g2.modified_at)) AS modified_at
          FROM records_g2 GROUP BY log_partition, stream_id, segment",
        "CREATE TABLE IF NOT EXISTS records_by_id_g2 ON CLUSTER \`gateway\` (log_partition UInt16, stream_id UInt64, record_id String CODEC(ZSTD(1)), position UInt64, version UInt64, gone UInt8) ENGINE = ReplicatedReplacingMergeTree(version, gone) PARTITION BY log_partition ORDER BY (stream_id, record_id) SETTINGS index_granularity = 64, allow_experimental_replacing_merge_with_cleanup = 1, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800",
        "CREATE MATERIALIZED VIEW IF NOT EXISTS records_by_id_g2_of_records ON CLUSTER \`gateway\` TO records_by_id_g2 AS 
          SELECT log_partition, stream_id, record_id, position, version, superseded AS gone
          FROM records_g2 WHERE superseded = 0 OR last_action = 'PURGED'",
        "CREATE TABLE IF NOT EXISTS projector_positions ON CLUSTER \`gateway\` (name String, log_partition UInt16, next_offset UInt64, owner_epoch UInt64, at_end_at DateTime64(3, 'UTC'), revision UInt64) ENGINE = ReplicatedReplacingMergeTree(revision) ORDER BY (name, log_partition) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0, replicated_deduplication_window_seconds = 604800",
        "CREATE TABLE IF NOT EXISTS record_history_g2 ON CLUSTER \`gateway\` (log_partition UInt16, stream_id UInt64, record_id String CODEC(ZSTD(1)), version UInt64, position UInt64, log_offset Int64, modified_at DateTime64(6, 'UTC'), last_action LowCardinality(String), is_pruned UInt8) ENGINE = ReplicatedReplacingMergeTree PARTITION BY log_partition ORDER BY (stream_id, record_id, version) SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800",
        "CREATE MATERIALIZED VIEW IF NOT EXISTS record_history_g2_of_records ON CLUSTER \`gateway\` TO record_history_g2 AS 
          SELECT log_partition, stream_id, record_id, version, position, log_offset, modified_at, last_action,
            toUInt8(pruned_at IS NOT NULL) AS is_pruned
          FROM records_g2 WHERE superseded = 0 OR last_action = 'PURGED'",
        "CREATE TABLE IF NOT EXISTS record_streams_g2 ON CLUSTER \`gateway\` (log_partition UInt16, environment_id LowCardinality(String), stream_id UInt64, integration LowCardinality(String), connection_id String, connection_uid String, model LowCardinality(String), variant LowCardinality(String), version UInt64) ENGINE = ReplicatedReplacingMergeTree(version) PARTITION BY log_partition ORDER BY (environment_id, stream_id) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0, replicated_deduplication_window_seconds = 604800",
      ]
    `);
    expect(dropStatement('records', { cluster, isInProcess: false })).toMatchInlineSnapshot(
      `"DROP TABLE IF EXISTS records ON CLUSTER \`gateway\` SYNC"`,
    );
    expect(databaseStatement('svc', cluster)).toMatchInlineSnapshot(
      `"CREATE DATABASE IF NOT EXISTS \`svc\` ON CLUSTER \`gateway\`"`,
    );
  });

  it('are read by the engine as they are meant', async () => {
    for (const one of definitions) {
      const tree = await parsed(createStatement(one, cluster));
      expect(tree).toContain(`CreateQuery ${one.name}`);
      if ('engine' in one) expect(tree).toContain(`Function Replicated${nameOf(one.engine)}`);
    }
    expect(await parsed(dropStatement('records', { cluster, isInProcess: false }))).toContain(
      'DropQuery  records',
    );
    expect(await parsed(databaseStatement('svc', cluster))).toContain('CreateQuery svc');
  });

  it('make replicated tables in the engine, with the settings that they name', async () => {
    for (const [at, one] of definitions.entries()) {
      // What the initiator of ON CLUSTER adds to the statement that each node runs.
      const uuid = `UUID '11111111-1111-4111-8111-${String(at).padStart(12, '0')}'`;
      await store.command(createStatement(one, cluster).replace(`ON CLUSTER \`${cluster}\``, uuid));
    }
    const tables = await store.queryRows<{ made: string }>(
      `SELECT name || ': ' || engine_full AS made FROM system.tables
       WHERE database = currentDatabase() AND engine LIKE 'Replicated%' ORDER BY name`,
    );
    expect(tables.map(({ made }) => made)).toMatchInlineSnapshot(`
      [
        "projector_positions: ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', revision) ORDER BY (name, log_partition) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0, replicated_deduplication_window_seconds = 604800, index_granularity = 8192",
        "record_history_g2: ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}') PARTITION BY log_partition ORDER BY (stream_id, record_id, version) SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800",
        "record_streams_g2: ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version) PARTITION BY log_partition ORDER BY (environment_id, stream_id) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 0, replicated_deduplication_window_seconds = 604800, index_granularity = 8192",
        "records_by_id_g2: ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version, gone) PARTITION BY log_partition ORDER BY (stream_id, record_id) SETTINGS index_granularity = 64, allow_experimental_replacing_merge_with_cleanup = 1, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800",
        "records_g2: ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', version, superseded) PARTITION BY log_partition ORDER BY (stream_id, position, record_id) SETTINGS index_granularity = 512, min_bytes_for_wide_part = 268435456, allow_experimental_replacing_merge_with_cleanup = 1, fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800",
        "stream_segments_g2: ReplicatedAggregatingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}') PARTITION BY log_partition ORDER BY (stream_id, segment) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = 604800, index_granularity = 8192",
      ]
    `);
  });
});

/** `ReplacingMergeTree(a, b)` without what is in brackets. */
const nameOf = (engine: string): string => engine.replace(/\(.*/, '');

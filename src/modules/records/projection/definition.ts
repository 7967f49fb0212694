import type { MigrationStep, TableDefinition, ViewDefinition } from '#ports/projection-store.ts';
import { defineProjection, type TableSet, positionsTable } from '#streams/projector/define.ts';
import type { TabWriter } from '#tables/rows.ts';
import { lastActionOf, type RecordChange } from '../model/events.ts';
import { sealedEncoding, sharedBytes } from '../model/sealed-payload.ts';
import { recordTables, unknownOffset, type RecordTables } from '../read/tables.ts';

/** Where the rows of a stream lie. */
export interface StreamPlace {
  readonly partition: number;
  /** `streamNumber` of the stream as decimal text. */
  readonly number: string;
}

/** A stream with its names, as a change or a head has them. */
export interface NamedStream {
  readonly place: StreamPlace;
  readonly names: Pick<
    RecordChange,
    | 'environment_id'
    | 'integration'
    | 'connection_id'
    | 'connection_uid'
    | 'model'
    | 'variant'
    | 'stream_seq'
  >;
}

/** Where a change belongs, and where the log has it. */
export interface ChangePlace {
  readonly place: StreamPlace;
  /** Of its message in the partition. */
  readonly offset: number;
}

const offsetColumn = `log_offset Int64 DEFAULT ${unknownOffset}`;
const withCleanup = { allow_experimental_replacing_merge_with_cleanup: 1 };
const tokensKept = 1000;

/**
 * Up to this size a part of the table keeps all of its columns in one file: a page opens one file of each part instead of
 * ten, which takes a sixth of its query. Larger parts keep each column in a file of its own: there a merge of all columns
 * at once, and a count, cost more than that.
 */
const partsInOneFile = { min_bytes_for_wide_part: 256 * 1024 ** 2 };

/**
 * The query that this order serves: GET /records pages along `position`. A change that moves a record also writes the
 * row that cancels its former place, so a page with FINAL reads live rows only.
 */
const recordsTable = (name: string): TableDefinition => ({
  name,
  columns: [
    'log_partition UInt16',
    'stream_id UInt64',
    'position UInt64',
    'record_id String CODEC(ZSTD(1))',
    'version UInt64',
    'superseded UInt8',
    'generation LowCardinality(String)',
    "first_seen_at DateTime64(6, 'UTC')",
    "modified_at DateTime64(6, 'UTC')",
    'last_action LowCardinality(String)',
    "deleted_at Nullable(DateTime64(6, 'UTC'))",
    "pruned_at Nullable(DateTime64(6, 'UTC'))",
    'payload String CODEC(ZSTD(1))',
    'payload_encoding LowCardinality(String)',
    'key_id LowCardinality(String)',
    'error LowCardinality(String)',
    offsetColumn,
    'INDEX actions last_action TYPE set(8) GRANULARITY 1',
  ],
  engine: 'ReplacingMergeTree(version, superseded)',
  partitionBy: 'log_partition',
  orderBy: ['stream_id', 'position', 'record_id'],
  tokensKept,
  settings: { index_granularity: 512, ...partsInOneFile, ...withCleanup },
});

/**
 * Known and dead positions of a stream, as bitmaps per 4096: skips a dead prefix and converts a time into a position.
 * Bitmaps, because counters would be wrong after a redelivery.
 */
const segmentsTable = (name: string): TableDefinition => ({
  name,
  columns: [
    'log_partition UInt16',
    'stream_id UInt64',
    'segment UInt64',
    'known AggregateFunction(groupBitmap, UInt32)',
    'dead AggregateFunction(groupBitmapIf, UInt32, UInt8)',
    "modified_at SimpleAggregateFunction(max, DateTime64(6, 'UTC'))",
  ],
  engine: 'AggregatingMergeTree',
  partitionBy: 'log_partition',
  orderBy: ['stream_id', 'segment'],
  tokensKept,
});

const segmentsView = (name: string, segments: string, records: string): ViewDefinition => ({
  name,
  to: segments,
  select: `
    SELECT log_partition, stream_id, intDiv(position, 4096) AS segment,
      groupBitmapState(toUInt32(position % 4096)) AS known,
      groupBitmapIfState(toUInt32(position % 4096), superseded) AS dead,
      max(if(superseded = 1, toDateTime64(0, 6, 'UTC'), ${records}.modified_at)) AS modified_at
    FROM ${records} GROUP BY log_partition, stream_id, segment`,
});

/** The current place of a record, by its id (docs/adr/0003-records-by-id.md). */
const byIdTable = (name: string): TableDefinition => ({
  name,
  columns: [
    'log_partition UInt16',
    'stream_id UInt64',
    'record_id String CODEC(ZSTD(1))',
    'position UInt64',
    'version UInt64',
    'gone UInt8',
  ],
  engine: 'ReplacingMergeTree(version, gone)',
  partitionBy: 'log_partition',
  orderBy: ['stream_id', 'record_id'],
  tokensKept,
  settings: { index_granularity: 64, ...withCleanup },
});

const byIdView = (name: string, byId: string, records: string): ViewDefinition => ({
  name,
  to: byId,
  select: `
    SELECT log_partition, stream_id, record_id, position, version, superseded AS gone
    FROM ${records} WHERE superseded = 0 OR last_action = 'PURGED'`,
});

/**
 * Every change of a record by its id, without its payload, which is in the log at the offset
 * (docs/adr/0023-history-as-an-index.md).
 */
const historyTable = (name: string): TableDefinition => ({
  name,
  columns: [
    'log_partition UInt16',
    'stream_id UInt64',
    'record_id String CODEC(ZSTD(1))',
    'version UInt64',
    'position UInt64',
    'log_offset Int64',
    "modified_at DateTime64(6, 'UTC')",
    'last_action LowCardinality(String)',
    'is_pruned UInt8',
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'log_partition',
  orderBy: ['stream_id', 'record_id', 'version'],
  tokensKept,
  settings: { index_granularity: 256 },
});

const historyRows = (records: string): string => `
    SELECT log_partition, stream_id, record_id, version, position, log_offset, modified_at, last_action,
      toUInt8(pruned_at IS NOT NULL) AS is_pruned
    FROM ${records} WHERE superseded = 0 OR last_action = 'PURGED'`;

/** Tables of earlier releases have changes without offsets: a rebuild finds them. */
const withHistory = (names: RecordTables): readonly MigrationStep[] => [
  `ALTER TABLE ${names.records} ADD COLUMN IF NOT EXISTS ${offsetColumn}`,
  historyTable(names.history),
  {
    name: `${names.history}_of_records`,
    to: names.history,
    select: historyRows(names.records),
  },
  `INSERT INTO ${names.history} ${historyRows(names.records)}`,
];

/** The names of a stream, which the other tables know by its number alone. */
const streamsTable = (name: string): TableDefinition => ({
  name,
  columns: [
    'log_partition UInt16',
    'environment_id LowCardinality(String)',
    'stream_id UInt64',
    'integration LowCardinality(String)',
    'connection_id String',
    'connection_uid String',
    'model LowCardinality(String)',
    'variant LowCardinality(String)',
    'version UInt64',
  ],
  engine: 'ReplacingMergeTree(version)',
  partitionBy: 'log_partition',
  orderBy: ['environment_id', 'stream_id'],
  tokensKept: 0,
});

/**
 * For tables of earlier releases: what is inserted from now on. A rebuild writes the rest so. Of replicated tables only the
 * one of the asked node changes.
 */
const withPartsInOneFile = (table: string): readonly MigrationStep[] =>
  Object.entries(partsInOneFile).map(
    ([name, value]) => `ALTER TABLE ${table} MODIFY SETTING ${name} = ${value}`,
  );

export interface RecordTableSet extends TableSet {
  readonly names: RecordTables;
}

function tableSet(generation: number, use: 'read' | 'compare' = 'read'): RecordTableSet {
  const names = recordTables(generation, use);
  const { records: table, segments, byId, history, streams } = names;
  const views = [`${segments}_of_records`, `${byId}_of_records`, `${history}_of_records`] as const;
  const steps = [
    recordsTable(table),
    segmentsTable(segments),
    segmentsView(views[0], segments, table),
    byIdTable(byId),
    byIdView(views[1], byId, table),
    positionsTable,
  ];
  return {
    name: table,
    generation,
    names,
    migrations: [
      { projection: table, number: 1, steps },
      { projection: table, number: 2, steps: withHistory(names) },
      { projection: table, number: 3, steps: withPartsInOneFile(table) },
      { projection: table, number: 4, steps: [streamsTable(streams)] },
    ],
    tables: [table, segments, byId, history, streams],
    views,
    replacing: [table, byId],
  };
}

export const records = defineProjection<RecordChange, ChangePlace, RecordTableSet>()({
  name: 'records',
  topic: 'svc.records.v1',
  schemaVersion: 1,
  tableSet,
  columns: [
    'log_partition',
    'stream_id',
    'position',
    'record_id',
    'version',
    'superseded',
    'generation',
    'first_seen_at',
    'modified_at',
    'last_action',
    'deleted_at',
    'pruned_at',
    'payload',
    'payload_encoding',
    'key_id',
    'error',
    'log_offset',
  ],
  write(writer, change, changePlace) {
    const { position, previous_position: previous } = change;
    if (change.action === 'purged') {
      writeCancelled(writer, change, changePlace, position, 'PURGED');
    } else writeLive(writer, change, changePlace, '');
    if (previous !== null && previous !== position) {
      writeCancelled(writer, change, changePlace, previous, 'MOVED');
    }
  },
});

/** The row of a change whose payload could not be written: it holds its place, and `error` has the reason. */
export function writeMarked(
  writer: TabWriter,
  change: RecordChange,
  changePlace: ChangePlace,
  error: string,
): void {
  const emptied: RecordChange = { ...change, payload: null, payload_encoding: 'none' };
  if (change.action === 'purged') records.write(writer, emptied, changePlace);
  else {
    writeLive(writer, emptied, changePlace, error);
    const { previous_position: previous } = change;
    if (previous !== null && previous !== change.position) {
      writeCancelled(writer, emptied, changePlace, previous, 'MOVED');
    }
  }
}

function writeLive(
  writer: TabWriter,
  change: RecordChange,
  changePlace: ChangePlace,
  error: string,
): void {
  writeKey(writer, change, changePlace, change.position, 0);
  writer.time(change.first_seen_at);
  writer.time(change.last_modified_at);
  writer.ascii(lastActionOf(change));
  // Set by callers, who may send any year.
  writer.time(change.deleted_at === null ? null : Math.max(0, change.deleted_at));
  writer.time(change.pruned_at);
  writePayload(writer, change);
  writer.string(change.key_id ?? '');
  writer.string(error);
  writer.uint(changePlace.offset);
  writer.endRow();
}

function writeCancelled(
  writer: TabWriter,
  change: RecordChange,
  changePlace: ChangePlace,
  position: number,
  action: 'MOVED' | 'PURGED',
): void {
  writeKey(writer, change, changePlace, position, 1);
  writer.time(change.first_seen_at);
  writer.time(change.last_modified_at);
  writer.ascii(action);
  writer.time(null);
  writer.time(null);
  writer.ascii('');
  writer.ascii('none');
  writer.ascii('');
  writer.ascii('');
  writer.uint(changePlace.offset);
  writer.endRow();
}

function writeKey(
  writer: TabWriter,
  change: RecordChange,
  { place: streamPlace }: ChangePlace,
  position: number,
  superseded: 0 | 1,
): void {
  writer.uint(streamPlace.partition);
  writer.ascii(streamPlace.number);
  writer.uint(position);
  writer.string(change.record_id);
  writer.uint(change.stream_seq);
  writer.uint(superseded);
  writer.string(change.stream_generation);
}

/** Payloads that were only sealed are kept as base64, as earlier releases did. */
function writePayload(writer: TabWriter, change: RecordChange): void {
  const { payload, payload_encoding: encoding } = change;
  if (payload === null) writer.ascii('');
  else if (encoding === 'json+aes256gcm') writer.ascii(Buffer.from(payload).toString('base64'));
  else if (encoding === sealedEncoding) writer.binary(payload, sharedBytes(payload));
  else writer.utf8(payload);
  writer.ascii(payload === null ? 'none' : encoding);
}

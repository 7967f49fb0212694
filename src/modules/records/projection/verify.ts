import type { ProjectionStore } from '#ports/projection-store.ts';
import { type TableSet, dropTables } from '#streams/projector/define.ts';
import { Positions } from '#streams/projector/positions.ts';
import type { VerifiedPart, Difference } from '#streams/projector/projection-state.ts';
import { micros } from '#tables/where.ts';
import { createHighWatermarks } from '../read/high-watermarks.ts';
import { recordTables, type RecordTables } from '../read/tables.ts';
import { records } from './definition.ts';
import { startProjector, type ProjectorDeps } from './projector.ts';

type VerifyDeps = Pick<
  ProjectorDeps,
  'log' | 'store' | 'codec' | 'clock' | 'logger' | 'partitions'
>;

/**
 * Compares two generations at the same offsets of the log, while both are filled and read: copies of their tables
 * (which share the files) are filled from the stored positions to the current end of the topic, and compared. Rows that
 * a copy has already are written again, which changes nothing.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`: retry is safe
 */
export async function verifyGeneration(
  deps: VerifyDeps,
  { expected, found }: { readonly expected: number; readonly found: number },
  signal: AbortSignal,
): Promise<Readonly<Record<string, VerifiedPart>>> {
  const { log, store, partitions } = deps;
  const parts: Record<string, VerifiedPart> = {};
  const generations = [expected, found];
  try {
    for (const generation of generations) await copy(deps, generation, signal);
    const until = new Map<number, number>();
    for (let partition = 0; partition < partitions; partition++) {
      until.set(partition, await log.endOffset(records.topic, partition));
    }
    for (const generation of generations) await feed(deps, generation, until, signal);
    for (const [partition, position] of until) {
      signal.throwIfAborted();
      const [first, second] = [recordTables(expected, 'compare'), recordTables(found, 'compare')];
      parts[partition] = await comparePartition(store, first, second, { partition, position });
    }
    return parts;
  } finally {
    // A repeated comparison drops them first, and may have done so already.
    if (!signal.aborted) for (const generation of generations) await dropCopies(store, generation);
  }
}

/** Removes the tables that a comparison copied, if there are any. */
export async function dropCopies(store: ProjectionStore, generation: number): Promise<void> {
  await dropTables(store, records.tableSet(generation, 'compare'));
}

/** Not recorded: copies are temporary. */
async function makeTables(store: ProjectionStore, set: TableSet): Promise<void> {
  for (const step of set.migrations.flatMap(({ steps }) => steps)) {
    await (typeof step === 'string' ? store.command(step) : store.create(step));
  }
}

/** The current tables, and positions that they have certainly reached. */
async function copy(deps: VerifyDeps, generation: number, signal: AbortSignal): Promise<void> {
  const { store, clock } = deps;
  const original = records.tableSet(generation);
  const copied = records.tableSet(generation, 'compare');
  await dropTables(store, copied);
  await makeTables(store, copied);
  // Read before the rows are copied: they may be ahead of their position, never behind it.
  const stored = await new Positions(store, original.name).load();
  for (const [at, table] of original.tables.entries()) {
    for (const partition of stored.keys()) {
      signal.throwIfAborted();
      await store.command(
        `ALTER TABLE ${copied.tables[at] ?? ''} ATTACH PARTITION ${partition} FROM ${table}`,
      );
    }
  }
  const positions = new Positions(store, copied.name);
  await positions.load();
  await positions.save(
    [...stored.values()].map((position) => ({ ...position, atEndAt: clock.now() })),
  );
}

async function feed(
  deps: VerifyDeps,
  generation: number,
  until: ReadonlyMap<number, number>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const projector = await startProjector({
    ...deps,
    tables: records.tableSet(generation, 'compare'),
    watermarks: createHighWatermarks(),
    until,
    cleanupMin: Infinity,
    queryClass: () => 'build',
  });
  const stop = (): void => void projector[Symbol.asyncDispose]();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await projector.stopped;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', stop);
    await projector[Symbol.asyncDispose]();
  }
}

/** Reported differences of one partition and table; the others are counted. */
const examplesMax = 10;

/** One row per stream: `rows`, `last` position, `sum` and `xor` of hashes. */
type Summary = (names: RecordTables) => string;

const inPartition = 'WHERE log_partition = {partition:UInt16}';
/** A hash of several columns is null as soon as one of them is. */
const orNone = (column: string): string => `ifNull(${micros(column)}, -1)`;

/** Live rows with everything that a page shows. */
const ofRecords: Summary = ({ records }) => `
  SELECT stream_id, count() AS rows, max(position) AS last, sum(hash) AS sum, groupBitXor(hash) AS xor
  FROM (
    SELECT stream_id, position, sipHash64(position, record_id, version, toString(generation),
      first_seen_at, modified_at, toString(last_action), ${orNone('deleted_at')}, ${orNone('pruned_at')},
      payload, toString(payload_encoding), toString(key_id), toString(error)) AS hash
    FROM ${records} FINAL ${inPartition}
  ) GROUP BY stream_id`;

const ofIds: Summary = ({ byId }) => `
  SELECT stream_id, count() AS rows, max(position) AS last, sum(hash) AS sum, groupBitXor(hash) AS xor
  FROM (
    SELECT stream_id, position, sipHash64(record_id, position, version) AS hash
    FROM ${byId} FINAL ${inPartition}
  ) GROUP BY stream_id`;

/**
 * Live positions by segment. Dead ones may differ: the log deletes superseded changes, and a table that is built later
 * never had them.
 */
const ofSegments: Summary = ({ segments }) => `
  SELECT stream_id, sum(live) AS rows, max(last) AS last, sum(hash) AS sum, groupBitXor(hash) AS xor
  FROM (
    SELECT stream_id, live, segment AS last, sipHash64(segment, live) AS hash FROM (
      SELECT stream_id, segment, groupBitmapMerge(known) - groupBitmapIfMerge(dead) AS live
      FROM ${segments} ${inPartition} GROUP BY stream_id, segment
    ) WHERE live > 0
  ) GROUP BY stream_id`;

/** The newest change of each record. Older ones may differ: the log deletes them, and a table may still have them. */
const ofHistory: Summary = ({ history }) => `
  SELECT stream_id, count() AS rows, max(newest) AS last, sum(hash) AS sum, groupBitXor(hash) AS xor
  FROM (
    SELECT stream_id, max(version) AS newest, sipHash64(record_id, newest) AS hash
    FROM ${history} ${inPartition} GROUP BY stream_id, record_id
    HAVING argMax(last_action, version) != 'PURGED'
  ) GROUP BY stream_id`;

const summaries: readonly (readonly [
  keyof Omit<RecordTables, 'generation' | 'streams'>,
  Summary,
])[] = [
  ['records', ofRecords],
  ['byId', ofIds],
  ['segments', ofSegments],
  ['history', ofHistory],
];

interface Totals {
  readonly streams: string;
  readonly expected_rows: string;
  readonly found_rows: string;
  readonly differences: string;
}

interface Row {
  readonly stream_id: string;
  readonly rows_1: string;
  readonly rows_2: string;
  readonly last_1: string;
  readonly last_2: string;
}

/** Joins both sides, one row per stream. */
function joined(summary: Summary, expected: RecordTables, found: RecordTables): string {
  const side = (names: RecordTables, at: 1 | 2): string =>
    `SELECT *, ${at} AS side FROM (${summary(names)})`;
  const difference = (column: string): string =>
    [1, 2].map((at) => `sumIf(${column}, side = ${at}) AS ${column}_${at}`).join(', ');
  return `
    SELECT stream_id, ${['rows', 'last', 'sum', 'xor'].map(difference).join(', ')},
      (rows_1, last_1, sum_1, xor_1) != (rows_2, last_2, sum_2, xor_2) AS differs
    FROM (${side(expected, 1)} UNION ALL ${side(found, 2)}) GROUP BY stream_id`;
}

/**
 * Compares one partition of two sets of tables that were filled up to the same offset: by stream the number of live
 * rows, the last position, and two checksums over the rows.
 * @throws GatewayError `projection_unavailable`
 */
async function comparePartition(
  store: ProjectionStore,
  expected: RecordTables,
  found: RecordTables,
  { partition, position }: { readonly partition: number; readonly position: number },
): Promise<VerifiedPart> {
  const examples: Difference[] = [];
  const totals: Totals[] = [];
  for (const [table, summary] of summaries) {
    const sides = joined(summary, expected, found);
    const [total] = await store.queryRows<Totals>(
      `SELECT count() AS streams, sum(rows_1) AS expected_rows, sum(rows_2) AS found_rows,
         countIf(differs) AS differences FROM (${sides})`,
      { partition },
    );
    if (total === undefined) continue;
    totals.push(total);
    if (total.differences === '0') continue;
    const rows = await store.queryRows<Row>(
      `SELECT stream_id, rows_1, rows_2, last_1, last_2 FROM (${sides})
       WHERE differs ORDER BY stream_id LIMIT ${examplesMax}`,
      { partition },
    );
    examples.push(...rows.map((row) => differenceOf(row, found[table], partition)));
  }
  const [ofTheRecords] = totals;
  return {
    position,
    streams: Number(ofTheRecords?.streams ?? 0),
    expectedRows: Number(ofTheRecords?.expected_rows ?? 0),
    foundRows: Number(ofTheRecords?.found_rows ?? 0),
    differences: totals.reduce((sum, { differences }) => sum + Number(differences), 0),
    examples,
  };
}

function differenceOf(row: Row, table: string, partition: number): Difference {
  return {
    table,
    stream: row.stream_id,
    partition,
    expectedRows: Number(row.rows_1),
    foundRows: Number(row.rows_2),
    expectedLast: Number(row.last_1),
    foundLast: Number(row.last_2),
  };
}

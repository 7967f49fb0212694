import { GatewayError } from '#kernel/errors.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Micros } from '#kernel/time.ts';
import type { ProjectionStore, SqlParams } from '#ports/projection-store.ts';
import { RowReader } from '#tables/rows.ts';
import { timestamp, where } from '#tables/where.ts';
import type { Cursor } from '../model/cursor.ts';
import { generationOf } from '../model/cursor.ts';
import type { StreamId } from '../model/stream.ts';
import { streamKey, streamNumber } from '../model/stream.ts';
import type { HighWatermark } from './high-watermarks.ts';
import { pageColumns } from './page-json.ts';
import type { PageQuery } from './reader.ts';
import type { RecordTables } from './tables.ts';

/** Positions in one row of `stream_segments`. */
export const segmentPositions = 4096;

/** Responses are cut above it, at the end of a block of rows. */
export const answerBytesMax = 32 * 1024 ** 2;

/** Named SQL queries of the tables in src/modules/records/projection/definition.ts. */
export interface StreamTable {
  readonly key: string;
  readonly number: string;
  readonly partition: number;
  readonly tables: RecordTables;
}

export function streamTable(
  stream: StreamId,
  partitions: number,
  tables: RecordTables,
): StreamTable {
  const key = streamKey(stream);
  const partition = partitionOf(key, partitions);
  return { key, number: streamNumber(key).toString(), partition, tables };
}

const inStream = 'log_partition = {partition:UInt16} AND stream_id = {stream:UInt64}';
const paramsOf = ({ partition, number }: StreamTable): SqlParams => ({ partition, stream: number });

/** Where a page begins: strictly after the position, and not before the time. */
export interface PageBound {
  readonly after: number;
  readonly from: Micros;
}

/** Some records by id, and their possible positions. */
export interface ByIds {
  readonly names: readonly string[];
  readonly positions: readonly number[];
  /** Any of them may also be after it. */
  readonly after: number;
}

interface PageConditions extends Pick<PageQuery, 'actions' | 'limit'> {
  readonly ids: ByIds | null;
  /** Last position to look at; null: to the end. A bound leaves out the parts of the table that follow. */
  readonly until: number | null;
}

/** Rows of a page in the order of modification, one more than `limit`, with the columns of `pageColumns`. */
export function pageRows(
  store: ProjectionStore,
  table: StreamTable,
  bound: PageBound,
  { actions, ids, limit, until }: PageConditions,
): Promise<Buffer> {
  const { sql, params } = where({
    [inStream]: paramsOf(table),
    'position > {after:UInt64}': bound.after,
    'position <= {until:UInt64}': until,
    [`modified_at >= ${timestamp('from')}`]: bound.from > 0 ? bound.from : null,
    'last_action IN {actions:Array(String)}': actions,
    [`(position IN {positions:Array(UInt64)} OR position > {unknown:UInt64})
      AND record_id IN {ids:Array(String)}`]: ids && {
      ids: ids.names,
      positions: ids.positions,
      unknown: ids.after,
    },
  });
  // The index of actions leaves granules out; in its exact mode not those with a row that cancels.
  // The default block size reads ten to fifty times more than a page needs.
  const block = limit < 128 ? 128 : 1024;
  return store.queryBinary(
    `SELECT ${pageColumns} FROM ${table.tables.records} FINAL WHERE ${sql}
     ORDER BY stream_id, position LIMIT ${limit + 1}
     SETTINGS max_threads = 1, max_block_size = ${block}, use_query_condition_cache = 0,
       use_skip_indexes_if_final = 1, use_skip_indexes_if_final_exact_mode = 1,
       max_result_bytes = ${answerBytesMax}, result_overflow_mode = 'break'`,
    params,
    'page',
  );
}

/** The newest row, live or not: reading along the order backwards touches one granule. */
export async function loadHead(store: ProjectionStore, table: StreamTable): Promise<HighWatermark> {
  const answer = await store.queryBinary(
    `SELECT position, modified_at, generation FROM ${table.tables.records} WHERE ${inStream}
     ORDER BY stream_id DESC, position DESC LIMIT 1 SETTINGS max_threads = 1, max_block_size = 128`,
    paramsOf(table),
    'page',
  );
  if (answer.length === 0) return { generation: 0n, position: 0, modifiedAt: 0 };
  const reader = new RowReader(answer);
  const [position, modifiedAt] = [reader.int64(), reader.int64()];
  return { position, modifiedAt, generation: generationOf(reader.string()) };
}

/**
 * Segments of which every position is dead, ascending; not the last that the directory knows. It may lag behind the
 * rows: of the segments before its last it has every position.
 */
export async function deadSegments(
  store: ProjectionStore,
  table: StreamTable,
): Promise<Float64Array> {
  const answer = await store.queryBinary(
    `SELECT segment FROM ${table.tables.segments}
     WHERE ${inStream}
       AND segment < (SELECT max(segment) FROM ${table.tables.segments} WHERE ${inStream})
     GROUP BY segment
     HAVING groupBitmapMerge(known) = groupBitmapIfMerge(dead) ORDER BY segment
     SETTINGS max_threads = 1`,
    paramsOf(table),
    'page',
  );
  const segments = new Float64Array(answer.length / 8);
  const reader = new RowReader(answer);
  for (let at = 0; at < segments.length; at++) segments[at] = reader.int64();
  return segments;
}

/** A position before the first record modified at the time or later, at most a segment before it. */
export async function positionBefore(
  store: ProjectionStore,
  table: StreamTable,
  from: Micros,
): Promise<number> {
  // The directory may lag behind the rows: positions unknown to it are after those it has.
  const [row] = await store.queryRows<{ first: string; last: string; found: string }>(
    `SELECT minIf(segment, at >= ${timestamp('from')}) AS first,
       countIf(at >= ${timestamp('from')}) AS found, max(segment) AS last
     FROM (SELECT segment, max(modified_at) AS at FROM ${table.tables.segments}
       WHERE ${inStream} GROUP BY segment)`,
    { ...paramsOf(table), from },
    'page',
  );
  if (row === undefined) return 0;
  const segment = Number(row.found === '0' ? row.last : row.first);
  return Math.max(0, segment * segmentPositions - 1);
}

/** Positions of the ids, as far as the table of ids has them. */
export async function positionsById(
  store: ProjectionStore,
  table: StreamTable,
  ids: readonly string[],
): Promise<number[]> {
  const rows = await store.queryRows<{ position: string }>(
    `SELECT position FROM ${table.tables.byId} WHERE ${inStream} AND record_id IN {ids:Array(String)}`,
    { ...paramsOf(table), ids },
    'page',
  );
  return rows.map(({ position }) => Number(position));
}

/** The last position in the table of ids: it has all before it, and may lag behind the rows after it. */
export async function lastById(store: ProjectionStore, table: StreamTable): Promise<number> {
  const [row] = await store.queryRows<{ last: string }>(
    `SELECT max(position) AS last FROM ${table.tables.byId} WHERE ${inStream} SETTINGS max_threads = 1`,
    paramsOf(table),
    'page',
  );
  return Number(row?.last ?? 0);
}

/** Records that are not deleted. */
export async function countLive(store: ProjectionStore, table: StreamTable): Promise<number> {
  const [row] = await store.queryRows<{ found: string }>(
    `SELECT count() AS found FROM ${table.tables.records} FINAL
     WHERE ${inStream} AND deleted_at IS NULL`,
    paramsOf(table),
    'heavy',
  );
  return Number(row?.found ?? 0);
}

/** Start of a page. A cursor of another generation is resolved by its time: it may repeat, never skip. */
export function boundOf(
  cursor: Cursor | null,
  modifiedAfter: Micros | null,
  watermark: HighWatermark,
): PageBound {
  const from = modifiedAfter ?? 0;
  if (cursor === null) return { after: 0, from };
  if (cursor.generation === watermark.generation) return { after: cursor.position, from };
  return { after: 0, from: Math.max(from, cursor.modifiedAt) };
}

/** The end of the run of dead segments that the next position falls into, or the position itself. */
export function skipDead(after: number, dead: Float64Array): number {
  let segment = Math.floor((after + 1) / segmentPositions);
  let at = firstAtLeast(dead, segment);
  if (dead[at] !== segment) return after;
  while (dead[at] === segment) {
    at++;
    segment++;
  }
  return segment * segmentPositions - 1;
}

/** Index of the first element at or above the value in an ascending list. */
export function firstAtLeast(ascending: Float64Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? Infinity) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function refuseTime(name: string): GatewayError {
  const message = 'Send an RFC 3339 time with Z or an offset.';
  return new GatewayError('invalid_query_params', {
    errors: [{ code: 'invalid_format', message, path: [name] }],
  });
}

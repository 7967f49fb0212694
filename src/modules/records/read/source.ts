import { setImmediate as breathe } from 'node:timers/promises';
import { expiringCache } from '#kernel/cache.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import { decodeCursor } from '../model/cursor.ts';
import { parseTimestamp } from '../model/parse-timestamp.ts';
import { PayloadOpener } from '../model/sealed-payload.ts';
import type { HighWatermark, HighWatermarks } from './high-watermarks.ts';
import type { OpenPayload } from './page-json.ts';
import { RowCutter, sealedKeys } from './page-json.ts';
import type { PageBound, StreamTable } from './queries.ts';
import {
  answerBytesMax,
  boundOf,
  countLive,
  deadSegments,
  lastById,
  loadHead,
  pageRows,
  positionBefore,
  positionsById,
  refuseTime,
  segmentPositions,
  skipDead,
  streamTable,
} from './queries.ts';
import type { PageQuery, RecordReader, Slice, TableSource } from './reader.ts';
import type { RecordTables } from './tables.ts';

export interface SourceDeps {
  readonly store: ProjectionStore;
  /** Dependencies of reads; `heads`, `published` and `reached` belong to their projector. */
  readonly tables: RecordTables;
  readonly watermarks: HighWatermarks;
  /** Resolves when the projector has made the changes up to the offset readable. */
  readonly published: RecordReader['published'];
  readonly reached: RecordReader['reached'];
  /**
   * Whether the heads of this partition's streams are current: only this process inserts its rows. Otherwise every
   * query goes to the table. Default: always.
   */
  readonly isCurrent?: (partition: number) => boolean;
  /** Awaited before a query is answered; lets it catch up with the log. */
  readonly beforeReading?: (partition: number) => Promise<void>;
  readonly vault: Pick<Vault, 'ready' | 'openBytes'>;
  readonly clock: Clock;
  /** SVC_PARTITIONS. */
  readonly partitions: number;
}

/** The directory of segments is worth a query only where there is this much to skip. */
const directoryWorthPositions = 4 * segmentPositions;
/** A stale directory is safe: it only skips fewer segments. */
const directoryFreshMs = 30_000;
const directoriesKept = 1000;

/** Dead segments by the number of the stream. */
type Directories = ReturnType<typeof expiringCache<Float64Array>>;

/** A query, and where its page begins in the stream. */
interface BoundQuery {
  readonly table: StreamTable;
  readonly watermark: HighWatermark;
  readonly bound: PageBound;
  readonly query: PageQuery;
}

/** Reads the tables. Where the projector runs in the same thread, it keeps the heads. */
export function createRecordSource(deps: SourceDeps): TableSource {
  const { store, watermarks, partitions, tables, clock } = deps;
  const directories: Directories = expiringCache(directoriesKept, directoryFreshMs, clock);
  const opener = new PayloadOpener(deps.vault);
  watermarks.onDropped((streams) => {
    if (streams === 'all') directories.clear();
  });

  /** From memory, near the start, or from anywhere after it. */
  async function sliceAfter({ table, watermark, bound, query }: BoundQuery) {
    const cutRows = (answer: Buffer) =>
      cut(deps.vault, opener, table, answer, { limit: query.limit, watermark });
    const recent = recentRows(deps, table, watermark, bound, query);
    if (recent !== null) return cutRows(recent);
    // The directory of a stream is there when its rows were found to be far apart.
    const isDense = directories.get(table.number) === undefined;
    const near = isDense ? nearOf(bound, watermark, query) : null;
    if (near !== null) {
      const slice = await cutRows(await pageRows(store, table, bound, near));
      if (slice.hasMore) return slice;
    }
    const start = await startOf(store, directories, table, bound, watermark);
    return cutRows(await rowsOf(deps, table, start, query));
  }

  return {
    async slice(query) {
      const table = streamTable(query.stream, partitions, tables);
      const cursor = query.cursor === null ? null : decodeCursor(query.cursor);
      const modifiedAfter = timestampOf(query);
      await deps.beforeReading?.(table.partition);
      const then = watermarks.now;
      const watermark = await headOf(deps, table);
      const bound = boundOf(cursor, modifiedAfter, watermark);
      if (bound.after >= watermark.position || bound.from > watermark.modifiedAt)
        return emptySlice(watermark);
      const slice = await sliceAfter({ table, watermark, bound, query });
      return { ...slice, isKeepable: !watermarks.wasDroppedSince(table.number, then) };
    },

    newest: async (stream) =>
      (await headOf(deps, streamTable(stream, partitions, tables))).position,

    async positionOf(stream, text) {
      const cursor = decodeCursor(text);
      const table = streamTable(stream, partitions, tables);
      const watermark = await headOf(deps, table);
      if (cursor.generation === watermark.generation) return cursor.position;
      // A position at most a segment before the cursor's time: records may be repeated, never skipped.
      return positionBefore(store, table, cursor.modifiedAt);
    },

    async counts(streams) {
      const counts = new Map<string, number>();
      for (const stream of streams) {
        const table = streamTable(stream, partitions, tables);
        await deps.beforeReading?.(table.partition);
        counts.set(stream.model, await countLive(store, table));
      }
      return counts;
    },

    published: (partition, offset, signal) => deps.published(partition, offset, signal),
    reached: () => deps.reached(),
    onDropped: (listener) => watermarks.onDropped(listener),
  };
}

function timestampOf({ modifiedAfter }: PageQuery): number | null {
  if (modifiedAfter === null) return null;
  const timestamp = parseTimestamp(modifiedAfter);
  if (timestamp === null) throw refuseTime('modified_after');
  return timestamp;
}

async function headOf(
  { store, watermarks, isCurrent = () => true }: SourceDeps,
  table: StreamTable,
): Promise<HighWatermark> {
  const load = () => loadHead(store, table);
  if (!isCurrent(table.partition)) return load();
  return watermarks.find(table.number) ?? watermarks.learn(table.number, load);
}

/** From memory, where this process knows the end of the stream and all rows before it from the bound on. */
function recentRows(
  { watermarks, isCurrent = () => true }: SourceDeps,
  table: StreamTable,
  watermark: HighWatermark,
  bound: PageBound,
  query: PageQuery,
): Buffer | null {
  if (query.ids !== null || !isCurrent(table.partition)) return null;
  if (watermarks.find(table.number) !== watermark) return null;
  return watermarks.recent.rowsAfter(table.number, watermark.position, bound, query);
}

/** Of the positions after a page's start, so many for each of its rows are looked at first. */
const positionsPerRow = 4;

/**
 * Where most positions are alive, the rows of a page are near its start: a query of these opens few parts of the table,
 * and needs no directory of segments. Null where that is everything, or where rows are left out by the query.
 */
function nearOf(bound: PageBound, watermark: HighWatermark, { ids, actions, limit }: PageQuery) {
  const until = bound.after + positionsPerRow * (limit + 1);
  if (ids !== null || actions !== null || bound.from > 0 || until >= watermark.position)
    return null;
  return { ids, actions, limit, until };
}

/** Moves the start past dead segments, and past segments before the time. */
async function startOf(
  store: ProjectionStore,
  directories: Directories,
  table: StreamTable,
  bound: PageBound,
  watermark: HighWatermark,
): Promise<PageBound> {
  let { after } = bound;
  if (watermark.position - after < directoryWorthPositions) return bound;
  if (bound.from > 0) {
    after = Math.max(after, await positionBefore(store, table, bound.from));
  }
  let dead = directories.get(table.number);
  if (dead === undefined) {
    dead = await deadSegments(store, table);
    directories.set(table.number, dead);
  }
  return { from: bound.from, after: skipDead(after, dead) };
}

/** Rows become readable before the view has their ids: all of those positions are read. */
async function rowsOf(
  { store, watermarks }: SourceDeps,
  table: StreamTable,
  bound: PageBound,
  { ids: input, actions, limit }: PageQuery,
): Promise<Buffer> {
  const conditions = { actions, limit, until: null };
  if (input === null) return pageRows(store, table, bound, { ...conditions, ids: null });
  const names = [...new Set(input)];
  // First the end of the known ids, then the ids, then the rows: records that moved meanwhile are after it.
  const after = watermarks.complete(table.number) ?? (await lastById(store, table));
  const positions = await positionsById(store, table, names);
  const ids = { names, positions, after };
  return pageRows(store, table, bound, { ...conditions, ids });
}

/** About 2 ms, with sealed payloads, so that a page does not wait for a chunk that is read ahead. */
const rowsPerStretch = 256;

async function cut(
  vault: SourceDeps['vault'],
  opener: PayloadOpener,
  table: StreamTable,
  answer: Buffer,
  { limit, watermark }: { readonly limit: number; readonly watermark: HighWatermark },
): Promise<Omit<Slice, 'isKeepable'>> {
  const keys = sealedKeys(answer);
  let gone = await goneOf(vault, keys);
  const open: OpenPayload = (connectionUid, payload) =>
    gone.has(connectionUid) ? null : opener.open({ key: table.key, connectionUid }, payload);
  const { generation } = watermark;
  const cutter = new RowCutter(answer, { limit, generation, bytesMax: answerBytesMax, open });
  cutter.turn(rowsPerStretch);
  while (!cutter.isDone) {
    await breathe();
    // A key may have been destroyed meanwhile.
    gone = await goneOf(vault, keys);
    cutter.turn(rowsPerStretch);
  }
  const rows = cutter.rows();
  // A response near the budget may have been cut: reporting more is safe.
  const hasMore = rows.hasMore || (rows.ends.length < limit && answer.length > answerBytesMax / 2);
  return { ...rows, generation, hasMore };
}

/** The destroyed keys among these; the others are loaded. */
async function goneOf(
  vault: Pick<Vault, 'ready'>,
  keys: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const gone = new Set<string>();
  for (const keyId of keys) {
    try {
      await vault.ready(keyId);
    } catch (error) {
      if (!isGone(error)) throw error;
      gone.add(keyId);
    }
  }
  return gone;
}

function isGone(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'not_found';
}

function emptySlice(watermark: HighWatermark): Slice {
  return {
    text: new Uint8Array(),
    ends: new Uint32Array(),
    positions: new Float64Array(),
    times: new Float64Array(),
    generation: watermark.generation,
    hasMore: false,
    isKeepable: false,
  };
}

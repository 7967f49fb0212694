import type { Clock, Instant } from '#kernel/time.ts';
import type { Cursor } from '../model/cursor.ts';
import { decodeCursor, encodeCursor } from '../model/cursor.ts';
import { streamKey, streamNumber } from '../model/stream.ts';
import { firstAtLeast } from './queries.ts';
import {
  pageKey,
  type Page,
  type PageQuery,
  type RecordReader,
  type RecordSource,
  type Slice,
} from './reader.ts';

/** Maximum age of a chunk: erased data leaves the memory of readers with it. */
const chunkLivesMs = 5_000;
/** Chunks of one reader that follow one another. */
const chunksPerWalk = 4;
/** Readers of one query that are tracked separately. */
const walksPerQuestion = 4;
const chunkRowsMin = 2_000;
const chunkRowsMax = 5_000;
/** Pages that one chunk should feed. */
const pagesPerChunk = 20;
/** All chunks together; beyond it nothing is read ahead. */
const bytesKeptMax = 128 * 1024 ** 2;

/** A slice that was read ahead, after the given position. */
interface Chunk {
  readonly after: number;
  readonly slice: Slice;
  readonly expiresAt: Instant;
}

/** Consecutive chunks from the position of one reader, for one query (stream, filter, time). */
interface Walk {
  readonly key: string;
  /** `streamNumber`. */
  readonly stream: string;
  readonly chunks: Chunk[];
  /** The current read and the position it starts after. */
  reading: { readonly after: number; readonly done: Promise<void> } | null;
  /** Its reader has waited for a chunk: it is faster than the reads. */
  isHurried: boolean;
}

/**
 * The reader that answers pages: the first of a walk from the source, the next ones from chunks that were read ahead.
 * The end of a chunk never counts as the head: the last page comes from the source.
 */
export function createRecordReader(source: RecordSource, clock: Clock): RecordReader {
  const ahead = new ReadAhead(source, clock);
  return {
    async page(query) {
      const cursor = query.cursor === null ? null : decodeCursor(query.cursor);
      const kept = cursor === null ? null : await ahead.find(query, cursor);
      if (kept !== null) return kept;
      const slice = await source.slice(query);
      ahead.continue(query, slice);
      return pageOf([{ slice, first: 0 }], query.limit);
    },
    positionOf: (stream, cursor) => source.positionOf(stream, cursor),
    counts: (streams) => source.counts(streams),
    published: (partition, offset, signal) => source.published(partition, offset, signal),
    reached: () => source.reached(),
  };
}

class ReadAhead {
  readonly #source: RecordSource;
  readonly #clock: Clock;
  /** By query, the newest walk first. */
  readonly #walks = new Map<string, Walk[]>();
  #bytes = 0;

  constructor(source: RecordSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
    source.onDropped((streams) => {
      for (const walk of [...this.#walks.values()].flat()) {
        if (streams === 'all' || streams.includes(walk.stream)) this.#forget(walk);
      }
    });
  }

  /** The page from chunks, or null. */
  async find(query: PageQuery, cursor: Cursor): Promise<Page | null> {
    const key = keyOf(query);
    if (key === null) return null;
    for (const walk of [...(this.#walks.get(key) ?? [])]) {
      let parts = this.#partsAfter(walk, cursor);
      if (rowsOf(parts) <= query.limit && walk.reading?.after === lastOf(parts, cursor)) {
        walk.isHurried = true;
        await walk.reading.done;
        parts = this.#partsAfter(walk, cursor);
      }
      // One row more than the page proves that the page does not end at the end of what was read.
      if (rowsOf(parts) <= query.limit) continue;
      this.#readOn(query, walk, rowsOf(parts) - query.limit);
      return pageOf(parts, query.limit);
    }
    return null;
  }

  /** Starts to read ahead after a page that came from the source. */
  continue(query: PageQuery, slice: Slice): void {
    const key = keyOf(query);
    const last = slice.positions.at(-1);
    if (key === null || !slice.hasMore || last === undefined) return;
    const walks = this.#walks.get(key) ?? [];
    if (walks.some((walk) => walk.reading?.after === last)) return;
    const stream = streamNumber(streamKey(query.stream)).toString();
    const walk: Walk = { key, stream, chunks: [], reading: null, isHurried: false };
    this.#walks.set(key, [walk, ...walks]);
    for (const oldest of walks.slice(walksPerQuestion - 1)) this.#forget(oldest);
    this.#read(query, walk, cursorAt(slice, slice.ends.length - 1), last);
  }

  #readOn(query: PageQuery, walk: Walk, rowsLeft: number): void {
    const slice = walk.chunks.at(-1)?.slice;
    const last = slice?.positions.at(-1);
    if (walk.reading !== null || slice === undefined || last === undefined) return;
    // A slow reader gets the next chunk late, since chunks live only for some seconds.
    const enough = chunkRows(query.limit) / (walk.isHurried ? 1 : 2);
    if (!slice.hasMore || rowsLeft > enough) return;
    this.#read(query, walk, cursorAt(slice, slice.ends.length - 1), last);
  }

  #read(query: PageQuery, walk: Walk, cursor: string, after: number): void {
    if (this.#bytes > bytesKeptMax) return;
    const expiresAt = this.#clock.now() + chunkLivesMs;
    const done = this.#source
      .slice({ ...query, cursor, limit: chunkRows(query.limit) })
      .then((slice) => {
        if (slice.isKeepable && this.#isHeld(walk)) this.#keep(walk, { after, slice, expiresAt });
      })
      // The page that needed it queries the source itself, and gets the error there.
      .catch(() => undefined)
      .finally(() => {
        walk.reading = null;
        if (walk.chunks.length === 0) this.#forget(walk);
      });
    walk.reading = { after, done };
  }

  /** False once the walk was dropped, perhaps while it was being read. */
  #isHeld(walk: Walk): boolean {
    return this.#walks.get(walk.key)?.includes(walk) ?? false;
  }

  #keep(walk: Walk, chunk: Chunk): void {
    walk.chunks.push(chunk);
    this.#bytes += chunk.slice.text.byteLength;
    while (walk.chunks.length > chunksPerWalk) this.#dropFirst(walk);
    const wait = Math.max(0, chunk.expiresAt - this.#clock.now());
    setTimeout(() => {
      this.#dropExpired(walk);
      if (walk.chunks.length === 0 && walk.reading === null) this.#forget(walk);
    }, wait + 1).unref();
  }

  #dropExpired(walk: Walk): void {
    const now = this.#clock.now();
    while (walk.chunks[0] !== undefined && walk.chunks[0].expiresAt <= now) this.#dropFirst(walk);
  }

  #dropFirst(walk: Walk): void {
    this.#bytes -= walk.chunks.shift()?.slice.text.byteLength ?? 0;
  }

  #forget(walk: Walk): void {
    while (walk.chunks.length > 0) this.#dropFirst(walk);
    const others = (this.#walks.get(walk.key) ?? []).filter((other) => other !== walk);
    if (others.length === 0) this.#walks.delete(walk.key);
    else this.#walks.set(walk.key, others);
  }

  /** The rows after the cursor in chunks that follow one another without a gap. */
  #partsAfter(walk: Walk, cursor: Cursor): Part[] {
    this.#dropExpired(walk);
    const parts: Part[] = [];
    let next = cursor.position;
    for (const { after, slice } of walk.chunks) {
      if (slice.generation !== cursor.generation) return [];
      const last = slice.positions.at(-1) ?? after;
      if (parts.length === 0 ? after > next || last <= next : after !== next) continue;
      parts.push({ slice, first: firstAtLeast(slice.positions, next + 1) });
      next = last;
    }
    return parts;
  }
}

/** Start of the next part. */
function lastOf(parts: readonly Part[], cursor: Cursor): number {
  return parts.at(-1)?.slice.positions.at(-1) ?? cursor.position;
}

/** Rows of a slice from an index on. */
interface Part {
  readonly slice: Slice;
  readonly first: number;
}

function rowsOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { slice, first }) => sum + slice.ends.length - first, 0);
}

/** Null: this query is not read ahead. */
const keyOf = (query: PageQuery): string | null => (query.ids === null ? pageKey(query) : null);

function chunkRows(limit: number): number {
  if (limit >= chunkRowsMax) return limit + 1;
  return Math.min(chunkRowsMax, Math.max(chunkRowsMin, limit * pagesPerChunk));
}

function cursorAt({ generation, positions, times }: Slice, at: number): string {
  return encodeCursor({ generation, position: positions[at] ?? 0, modifiedAt: times[at] ?? 0 });
}

const opening = Buffer.from('{"records":[');

/** Cuts the first rows of the parts into the answer; there is one more row wherever the cut is not at the end. */
function pageOf(parts: readonly Part[], limit: number): Page {
  const pieces: Uint8Array[] = [opening];
  let records = 0;
  let nextCursor: string | null = null;
  for (const { slice, first } of parts) {
    const end = Math.min(slice.ends.length, first + limit - records);
    if (end > first) {
      if (records > 0) pieces.push(comma);
      const start = first === 0 ? 0 : (slice.ends[first - 1] ?? 0) + 1;
      pieces.push(slice.text.subarray(start, slice.ends[end - 1]));
      records += end - first;
    }
    const hasMore = end < slice.ends.length || slice.hasMore;
    nextCursor = records > 0 && hasMore ? cursorAt(slice, end - 1) : null;
    if (records === limit) break;
  }
  pieces.push(Buffer.from(`],"next_cursor":${JSON.stringify(nextCursor)}}`));
  const hasStream = parts.some(({ slice }) => slice.generation !== 0n);
  return { body: Buffer.concat(pieces), records, nextCursor, hasStream };
}

const comma = Buffer.from(',');

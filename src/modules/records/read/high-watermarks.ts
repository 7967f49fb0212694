import { LRUCache } from 'lru-cache';
import { growingCache } from '#kernel/cache.ts';
import type { Micros } from '#kernel/time.ts';
import { lastActionOf, type RecordChange } from '../model/events.ts';
import { encodePageRow } from './page-json.ts';
import type { DroppedStreams, PageQuery } from './reader.ts';

/** The readable part of a stream. */
export interface HighWatermark {
  /** Fingerprint of the generation (`generationOf`). */
  readonly generation: bigint;
  /** Highest position that was readable; 0 = the stream has no rows. */
  readonly position: number;
  readonly modifiedAt: Micros;
}

/** About 150 bytes each. */
const streamsMax = 200_000;

/** The projector's knowledge of its streams, without queries: it answers polls at the head. Keys are stream numbers. */
export interface HighWatermarks {
  /** The last rows of the streams; used only where `find` knows the end. */
  readonly recent: RecentChanges;
  /** Undefined: unknown, or rows of the stream are about to become readable. Query the table (`learn`). */
  find(stream: string): HighWatermark | undefined;
  /** A position up to which all tables of the projection are complete; undefined when unknown. */
  complete(stream: string): number | undefined;
  /** The answer of the table; kept only when nothing was inserted or dropped while it was read. */
  learn(stream: string, load: () => Promise<HighWatermark>): Promise<HighWatermark>;
  /** Call before rows of these streams are inserted: until `advance` only the table knows their heads. */
  begin(streams: Iterable<string>): void;
  /** Once the rows are readable; null where the newest has no generation. */
  advance(stream: string, watermark: HighWatermark | null): void;
  /** The streams lost rows or payloads: earlier reads are out of date. */
  drop(streams: DroppedStreams): void;
  /** Grows with every drop. */
  readonly now: number;
  /** Whether the stream was dropped after `now` had the given value. */
  wasDroppedSince(stream: string, then: number): boolean;
  onDropped(listener: (streams: DroppedStreams) => void): void;
}

export function createHighWatermarks(recent = new RecentChanges()): HighWatermarks {
  /** Forgotten ones are loaded from the table again. */
  const highWatermarks = growingCache<HighWatermark>(streamsMax);
  /** Streams with rows that may be readable before they are confirmed. */
  const changing = new Set<string>();
  /** The last query of the table that no insert has overtaken. */
  const questions = new Map<string, object>();
  const drops = growingCache<number>(streamsMax);
  const listeners = [(streams: DroppedStreams) => recent.dropped(streams)];
  let now = 0;
  let allDroppedAt = 0;

  return {
    recent,
    find: (stream) => (changing.has(stream) ? undefined : highWatermarks.get(stream)),
    complete: (stream) => highWatermarks.get(stream)?.position,
    async learn(stream, load) {
      const question = {};
      questions.set(stream, question);
      try {
        const watermark = await load();
        if (questions.get(stream) === question && !changing.has(stream)) {
          highWatermarks.set(stream, watermark);
        }
        return watermark;
      } finally {
        if (questions.get(stream) === question) questions.delete(stream);
      }
    },
    begin(streams) {
      for (const stream of streams) {
        changing.add(stream);
        questions.delete(stream);
      }
    },
    advance(stream, watermark) {
      changing.delete(stream);
      // It was asked while the rows came, and may be older than they are.
      questions.delete(stream);
      if (watermark === null) highWatermarks.delete(stream);
      else highWatermarks.set(stream, watermark);
    },
    drop(streams) {
      now++;
      if (streams === 'all') {
        allDroppedAt = now;
        highWatermarks.clear();
        questions.clear();
      } else {
        for (const stream of streams) {
          drops.set(stream, now);
          questions.delete(stream);
        }
      }
      for (const listener of listeners) listener(streams);
    },
    get now() {
      return now;
    },
    wasDroppedSince: (stream, then) => allDroppedAt > then || (drops.get(stream) ?? 0) > then,
    onDropped: (listener) => void listeners.push(listener),
  };
}

/** Of one stream. */
const rowsKept = 2_000;
const bytesMax = 1024 ** 2;
/** Of all streams together. */
const allBytesMax = 32 * 1024 ** 2;
/** What a row costs beside its bytes. */
const rowOverhead = 200;

interface RecentRow {
  readonly modifiedAt: Micros;
  readonly lastAction: string;
  /** As the tables return it (`pageColumns`), sealed payloads sealed. */
  readonly bytes: Buffer;
}

/** Every live row of a stream after `from`, in the order of positions. */
interface Tail {
  from: number;
  /** The highest position that was added. */
  last: number;
  bytes: number;
  readonly rows: Map<number, RecentRow>;
}

/** A change, and the number of its stream. */
interface Entry {
  readonly change: RecordChange;
  readonly place: { readonly number: string };
}

/**
 * The last changes of each stream, in memory: a page after a cursor within them needs no query. An application reads
 * such a page after each webhook.
 */
export class RecentChanges {
  readonly #tails = new LRUCache<string, Tail>({
    maxSize: allBytesMax,
    sizeCalculation: ({ bytes }) => bytes + rowOverhead,
  });
  readonly #rowsMax: number;

  /** Rows kept of one stream. */
  constructor(rowsMax = rowsKept) {
    this.#rowsMax = rowsMax;
  }

  /**
   * Changes whose rows are readable, in the order of the log. Of a stream with more of them than are kept nothing is kept:
   * its readers are behind, and read the tables.
   */
  add(entries: readonly Entry[]): void {
    for (const [stream, added] of Map.groupBy(entries, ({ place }) => place.number)) {
      if (added.length > this.#rowsMax) this.drop(stream);
      else for (const { change } of added) this.#add(stream, change);
    }
  }

  /**
   * Up to `limit` + 1 rows after the bound, as the tables return them; null where they may have more rows. `head`: the
   * position of the stream's end.
   */
  rowsAfter(
    stream: string,
    head: number,
    bound: { readonly after: number; readonly from: Micros },
    { actions, limit }: Pick<PageQuery, 'actions' | 'limit'>,
  ): Buffer | null {
    const tail = this.#tails.get(stream);
    if (tail === undefined || tail.last !== head || bound.after < tail.from) return null;
    const found: Buffer[] = [];
    for (const position of tail.rows.keys()) {
      if (position <= bound.after) continue;
      const row = tail.rows.get(position);
      if (row === undefined || row.modifiedAt < bound.from) continue;
      const { lastAction, bytes } = row;
      if (actions !== null && !(actions as readonly string[]).includes(lastAction)) continue;
      if (found.push(bytes) > limit) break;
    }
    return Buffer.concat(found);
  }

  drop(stream: string): void {
    this.#tails.delete(stream);
  }

  /** Single streams lost what `add` has seen too. */
  dropped(streams: DroppedStreams): void {
    if (streams === 'all') this.#tails.clear();
  }

  #add(stream: string, change: RecordChange): void {
    const { position, stream_seq: seq, previous_position: previous } = change;
    const existing = this.#tails.get(stream);
    // Pruned, restored or purged in its place; without a generation it was not readable.
    if (position !== seq || change.stream_generation === '') {
      this.drop(stream);
      return;
    }
    // Read again from the log: what follows comes again too.
    const isAgain = existing !== undefined && position <= existing.last;
    if (isAgain) this.drop(stream);
    const tail =
      existing === undefined || isAgain
        ? { from: position - 1, last: 0, bytes: 0, rows: new Map<number, RecentRow>() }
        : existing;
    if (previous !== null) remove(tail, previous);
    const bytes = encodePageRow(change);
    const lastAction = lastActionOf(change);
    tail.rows.set(position, { modifiedAt: change.last_modified_at, lastAction, bytes });
    tail.bytes += bytes.length + rowOverhead;
    tail.last = position;
    for (const first of tail.rows.keys()) {
      if (tail.rows.size <= this.#rowsMax && tail.bytes <= bytesMax) break;
      remove(tail, first);
      tail.from = first;
    }
    // The same object again would keep its former size.
    this.#tails.delete(stream);
    this.#tails.set(stream, tail);
  }
}

function remove(tail: Tail, position: number): void {
  const row = tail.rows.get(position);
  if (row === undefined) return;
  tail.rows.delete(position);
  tail.bytes -= row.bytes.length + rowOverhead;
}

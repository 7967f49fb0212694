import { growingCache } from '#kernel/cache.ts';
import type { Micros } from '#kernel/time.ts';
import type { DroppedStreams } from './reader.ts';
import { RecentChanges } from './recent-changes.ts';

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

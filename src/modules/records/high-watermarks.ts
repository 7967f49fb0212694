import type { Micros } from '../../kernel/time.ts';
import type { Dropped } from './reader.ts';

/** How far a stream is readable. */
export interface HighWatermark {
  /** Fingerprint of the generation (`generationOf`). */
  readonly generation: bigint;
  /** Highest position that was ever readable; 0 = the stream has no rows. */
  readonly position: number;
  readonly modifiedAt: Micros;
}

/** Entries kept; the oldest go first and are loaded from the table again. About 100 bytes each. */
const entriesMax = 200_000;

/**
 * What the projector's process knows of its streams without asking the tables: polls at the head are
 * answered from it. Keys are stream numbers.
 */
export interface HighWatermarks {
  /** Undefined: not known here, or rows of the stream are about to become readable. Ask the table (`learn`). */
  find(stream: string): HighWatermark | undefined;
  /** A position up to which all tables of the projection are complete; undefined: none is known. */
  complete(stream: string): number | undefined;
  /** What the table says; kept only when nothing was inserted or dropped while it was read. */
  learn(stream: string, load: () => Promise<HighWatermark>): Promise<HighWatermark>;
  /** Before rows of these streams are inserted: until `advance` the table alone knows their heads. */
  begin(streams: Iterable<string>): void;
  /** Once the rows are readable; null where the newest has no generation. */
  advance(stream: string, head: HighWatermark | null): void;
  /** The streams lost rows or payloads: whatever was read of them before is out of date. */
  drop(streams: Dropped): void;
  /** Grows with every drop. */
  readonly now: number;
  /** Whether the stream was dropped after `now` had the given value. */
  wasDroppedSince(stream: string, then: number): boolean;
  onDropped(listener: (streams: Dropped) => void): void;
}

export function createHighWatermarks(): HighWatermarks {
  const highWatermarks = new Map<string, HighWatermark>();
  /** Streams with rows that may be readable and are not confirmed. */
  const changing = new Set<string>();
  /** The last question to the table that nothing has overtaken. */
  const questions = new Map<string, object>();
  const drops = new Map<string, number>();
  const listeners: ((streams: Dropped) => void)[] = [];
  let now = 0;
  let allDroppedAt = 0;

  const keep = (stream: string, head: HighWatermark): void => {
    highWatermarks.set(stream, head);
    if (highWatermarks.size > entriesMax) forgetOldest(highWatermarks);
  };

  return {
    find: (stream) => (changing.has(stream) ? undefined : highWatermarks.get(stream)),
    complete: (stream) => highWatermarks.get(stream)?.position,
    async learn(stream, load) {
      const question = {};
      questions.set(stream, question);
      try {
        const head = await load();
        if (questions.get(stream) === question && !changing.has(stream)) keep(stream, head);
        return head;
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
    advance(stream, head) {
      changing.delete(stream);
      if (head === null) highWatermarks.delete(stream);
      else keep(stream, head);
    },
    drop(streams) {
      now++;
      if (streams === 'all') {
        allDroppedAt = now;
        highWatermarks.clear();
        questions.clear();
      } else {
        for (const stream of streams) {
          drops.delete(stream);
          drops.set(stream, now);
          if (drops.size > entriesMax) forgetOldest(drops);
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

function forgetOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}

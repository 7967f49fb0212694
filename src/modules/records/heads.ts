import type { Micros } from '../../kernel/time.ts';
import type { Dropped } from './reader.ts';

/** How far a stream is readable. */
export interface StreamHead {
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
export interface StreamHeads {
  /** Undefined: not known here, ask the table and `learn` it. */
  find(stream: string): StreamHead | undefined;
  /** From the table; never moves a head back. Returns what counts. */
  learn(stream: string, head: StreamHead): StreamHead;
  /** After the rows are readable. */
  advance(stream: string, head: StreamHead): void;
  /** The streams lost rows or payloads: whatever was read of them before is out of date. */
  drop(streams: Dropped): void;
  /** Grows with every drop. */
  readonly now: number;
  /** Whether the stream was dropped after `now` had the given value. */
  wasDroppedSince(stream: string, then: number): boolean;
  onDropped(listener: (streams: Dropped) => void): void;
}

export function createStreamHeads(): StreamHeads {
  const heads = new Map<string, StreamHead>();
  const drops = new Map<string, number>();
  const listeners: ((streams: Dropped) => void)[] = [];
  let now = 0;
  let allDroppedAt = 0;

  const raise = (stream: string, head: StreamHead): StreamHead => {
    const known = heads.get(stream);
    if (known !== undefined && known.position >= head.position) return known;
    heads.set(stream, head);
    if (heads.size > entriesMax) forgetOldest(heads);
    return head;
  };
  const advance = (stream: string, head: StreamHead): void => {
    const known = heads.get(stream);
    if (known === undefined || known.generation === head.generation) raise(stream, head);
    else heads.set(stream, { ...head, position: Math.max(known.position, head.position) });
  };

  return {
    find: (stream) => heads.get(stream),
    learn: raise,
    advance,
    drop(streams) {
      now++;
      if (streams === 'all') {
        allDroppedAt = now;
        heads.clear();
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

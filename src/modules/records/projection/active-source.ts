import { setTimeout as sleep } from 'node:timers/promises';
import { partitionOf } from '../../../kernel/partition.ts';
import type { Dropped, PageQuery, RecordSource, TableSource } from '../reader.ts';
import { streamKey, type StreamId } from '../stream.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import { createReadAtEnd } from './read-at-end.ts';

/** How long other nodes may read the former generation: a barrier waits for both. */
const formerReadMs = 30_000;

export interface ActiveSource extends RecordSource {
  /** From now on this one is read; what was read of the other is forgotten. */
  switchTo(source: TableSource): void;
  /** A source that may be read, here or by other nodes: what it loses is passed on. */
  watch(source: TableSource): void;
  /** It is not read any more. */
  leave(source: TableSource): void;
}

/**
 * Reads the generation that is active, and goes over to another between two questions. Nodes do so one after the other,
 * and each generation has its own projector: a stream ends only where it ends in every generation that a node may read.
 */
export function createActiveSource(
  first: TableSource,
  { log, partitions }: { readonly log: Pick<EventLog, 'endOffset'>; readonly partitions: number },
): ActiveSource {
  const listeners: ((streams: Dropped) => void)[] = [];
  /** Those that this node or another may read, and how each comes to show what the log has. */
  const readable = new Map<TableSource, (partition: number) => Promise<void>>();
  let active = first;
  let former: Former | null = null;
  const publish = (streams: Dropped): void => {
    for (const listener of listeners) listener(streams);
  };

  /** Resolves when the source shows of the stream what any other shows now. */
  const untilLevel = async (source: TableSource, stream: StreamId): Promise<void> => {
    const others = [...readable.keys()].filter((other) => other !== source);
    // Its tables may not exist yet or any more: then there are no readers.
    const shown = others.map((other) => other.newest(stream).catch(() => 0));
    const furthest = Math.max(...(await Promise.all(shown)));
    if ((await source.newest(stream)) >= furthest) return;
    await readable.get(source)?.(partitionOf(streamKey(stream), partitions));
  };

  return {
    async slice(query: PageQuery) {
      const source = active;
      let slice = await source.slice(query);
      if (!slice.hasMore && readable.size > 1) {
        await untilLevel(source, query.stream);
        slice = await source.slice(query);
      }
      // Drops are heard from the active one alone: this slice may have missed its own.
      return source === active ? slice : { ...slice, isKeepable: false };
    },
    positionOf: (stream, cursor) => active.positionOf(stream, cursor),
    counts: (streams) => active.counts(streams),
    async published(partition, offset, signal) {
      for (;;) {
        const source = active;
        await Promise.all([
          source.published(partition, offset, signal),
          former === null ? null : whileRead(former, partition, offset),
        ]);
        if (source === active) return;
      }
    },
    reached: () => reachedBy(active, former),
    onDropped: (listener) => void listeners.push(listener),
    switchTo(source) {
      former = { source: active, until: performance.now() + formerReadMs };
      active = source;
      publish('all');
    },
    watch(source) {
      const { published } = source;
      readable.set(source, createReadAtEnd({ log, published }));
      source.onDropped((streams) => {
        if (source === active) publish(streams);
      });
    },
    leave: (source) => void readable.delete(source),
  };
}

/** A generation that other nodes may read until then. */
interface Former {
  readonly source: RecordSource;
  readonly until: number;
}

/** How far both can be read, as long as both may be. */
async function reachedBy(active: RecordSource, former: Former | null): Promise<number[]> {
  const isRead = former !== null && performance.now() < former.until;
  const [now, before] = await Promise.all([
    active.reached(),
    isRead ? former.source.reached() : null,
  ]);
  return now.map((next, partition) => Math.min(next, before?.[partition] ?? next));
}

/** Resolves when the former generation shows the changes, or is read no more. */
async function whileRead(
  { source, until }: Former,
  partition: number,
  offset: number,
): Promise<void> {
  const leftMs = until - performance.now();
  if (leftMs <= 0) return;
  const ending = new AbortController();
  const { signal } = ending;
  const expired = sleep(leftMs, undefined, { signal, ref: false });
  const shown = source.published(partition, offset, signal);
  // The one that loses ends by the abort.
  await Promise.race([expired, shown]).finally(() => ending.abort());
  await Promise.allSettled([expired, shown]);
}

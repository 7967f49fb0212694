import { setTimeout as sleep } from 'node:timers/promises';
import { partitionOf } from '#kernel/partition.ts';
import type { EventLog } from '#ports/event-log.ts';
import { streamKey, type StreamId } from '../model/stream.ts';
import type { DroppedStreams, PageQuery, RecordSource, TableSource } from '../read/reader.ts';
import { createReadAtEnd } from './read-at-end.ts';

/** How long other nodes may read the former generation: a barrier waits for both. */
const formerReadMs = 30_000;

export interface ActiveSource extends RecordSource {
  /** Switches to this generation; data read from the other is dropped. */
  switchTo(source: TableSource): void;
  /** A source that may be read, here or by other nodes: its drops are passed on. */
  watch(source: TableSource): void;
  /** It is no longer read. */
  leave(source: TableSource): void;
}

/**
 * Reads the active generation, and switches to another between two queries. Nodes switch one after the other, and each
 * generation has its own projector: a stream ends only where it ends in every generation that a node may read.
 */
export function createActiveSource(
  first: TableSource,
  { log, partitions }: { readonly log: Pick<EventLog, 'endOffset'>; readonly partitions: number },
): ActiveSource {
  const listeners: ((streams: DroppedStreams) => void)[] = [];
  /** Sources that this node or another may read, and how each catches up with the log. */
  const readable = new Map<TableSource, (partition: number) => Promise<void>>();
  let active = first;
  let former: FormerGeneration | null = null;
  const publish = (streams: DroppedStreams): void => {
    for (const listener of listeners) listener(streams);
  };

  /** Resolves when the source has as much of the stream as any other has now. */
  const untilLevel = async (source: TableSource, stream: StreamId): Promise<void> => {
    const others = [...readable.keys()].filter((other) => other !== source);
    // Its tables may not exist: then there are no readers.
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
      // Only the active source reports drops: this slice may have missed its own.
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
interface FormerGeneration {
  readonly source: RecordSource;
  readonly until: number;
}

/** The position up to which both can be read, while both may be. */
async function reachedBy(active: RecordSource, former: FormerGeneration | null): Promise<number[]> {
  const isRead = former !== null && performance.now() < former.until;
  const [now, before] = await Promise.all([
    active.reached(),
    isRead ? former.source.reached() : null,
  ]);
  return now.map((next, partition) => Math.min(next, before?.[partition] ?? next));
}

/** Resolves when the former generation has the changes, or is no longer read. */
async function whileRead(
  { source, until }: FormerGeneration,
  partition: number,
  offset: number,
): Promise<void> {
  const leftMs = until - performance.now();
  if (leftMs <= 0) return;
  const ending = new AbortController();
  const { signal } = ending;
  const expired = sleep(leftMs, undefined, { signal, ref: false });
  const shown = source.published(partition, offset, signal);
  // The slower one ends by the abort.
  await Promise.race([expired, shown]).finally(() => ending.abort());
  await Promise.allSettled([expired, shown]);
}

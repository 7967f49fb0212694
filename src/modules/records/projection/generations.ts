import { setTimeout as sleep } from 'node:timers/promises';
import { partitionOf } from '#kernel/partition.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { TableFeed, FeedDeps, FeedOptions } from '#streams/projector/generation-feed.ts';
import {
  startGenerations,
  type GenerationsDeps,
  type Generations,
} from '#streams/projector/generations.ts';
import { streamKey, type StreamId } from '../model/stream.ts';
import { createHighWatermarks, type HighWatermarks } from '../read/high-watermarks.ts';
import type { RecordSource, TableSource, DroppedStreams, PageQuery } from '../read/reader.ts';
import type { SourceDeps } from '../read/source.ts';
import { records, type RecordTableSet } from './definition.ts';
import { createReadAtEnd } from './read-at-end.ts';
import { dropCopies } from './verify.ts';

/** How long other nodes may read the former generation: a barrier waits for both. */
const formerReadMs = 30_000;

interface ActiveSource extends RecordSource {
  /** Switches to this generation; data read from the other is dropped. */
  switchTo(source: TableSource): void;
  /** A source that may be read, here or by other nodes: its drops are passed on. */
  watch(source: TableSource): void;
  /** It is no longer read. */
  leave(source: TableSource): void;
}

interface ActiveSourceDeps {
  readonly log: Pick<EventLog, 'endOffset'>;
  readonly partitions: number;
  /** Whether other processes read the same tables, and may learn of a switch later. */
  readonly isReadElsewhere: boolean;
}

/**
 * Reads the active generation, and switches to another between two queries. Nodes switch one after the other, and each
 * generation has its own projector: a stream ends only where it ends in every generation that a node may read.
 */
export function createActiveSource(
  first: TableSource,
  { log, partitions, isReadElsewhere }: ActiveSourceDeps,
): ActiveSource {
  const listeners: ((streams: DroppedStreams) => void)[] = [];
  /** Sources that this node or another may read, and how each catches up with the log. */
  const readable = new Map<TableSource, (partition: number) => Promise<void>>();
  let active = first;
  let former: FormerGeneration | null = null;
  /** Aborts at the next switch. */
  let switching = new AbortController();
  const publish = (streams: DroppedStreams): void => {
    for (const listener of listeners) listener(streams);
  };

  /** Resolves when the source has as much of the stream as any other has now. */
  const untilLevel = async (source: TableSource, stream: StreamId): Promise<void> => {
    const others = [...readable.keys()].filter((other) => other !== source);
    const furthest = await furthestOf(others, stream);
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
        const [source, { signal: left }] = [active, switching];
        const shown = source.published(partition, offset, AbortSignal.any([signal, left]));
        await Promise.all([
          unlessLeft(shown, left, signal),
          former === null ? null : whileRead(former, partition, offset),
        ]);
        if (source === active) return;
      }
    },
    reached: () => reachedBy(active, former),
    onDropped: (listener) => void listeners.push(listener),
    switchTo(source) {
      former = isReadElsewhere ? { source: active, until: performance.now() + formerReadMs } : null;
      active = source;
      switching.abort();
      switching = new AbortController();
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

/** The last position of the stream that any of them shows. */
async function furthestOf(sources: readonly TableSource[], stream: StreamId): Promise<number> {
  // The tables of one may not exist: then it has no readers.
  const shown = sources.map((source) => source.newest(stream).catch(() => 0));
  return Math.max(...(await Promise.all(shown)));
}

/** A generation that can no longer be fed never has the changes: the wait goes on with its successor. */
async function unlessLeft(
  shown: Promise<void>,
  left: AbortSignal,
  signal: AbortSignal,
): Promise<void> {
  try {
    await shown;
  } catch (error) {
    if (signal.aborted || !left.aborted) throw error;
  }
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

export interface RecordFeedOptions extends FeedOptions<RecordTableSet> {
  readonly watermarks: HighWatermarks;
}

type GeneralDeps = GenerationsDeps<
  TableSource,
  ReturnType<typeof createActiveSource>,
  RecordTableSet
>;
type DerivedDep =
  | 'isTableOf'
  | 'topic'
  | 'tableSet'
  | 'openActive'
  | 'dropCopies'
  | 'openFeed'
  | 'openSource';

export interface RecordGenerationsDeps extends Omit<GeneralDeps, DerivedDep> {
  readonly isReadElsewhere: ActiveSourceDeps['isReadElsewhere'];
  readonly openReach: FeedDeps<TableSource, RecordTableSet>['openReach'];
  readonly openFeed: (options: RecordFeedOptions) => Promise<TableFeed>;
  readonly openSource: (
    ref: Required<
      Pick<
        SourceDeps,
        'tables' | 'watermarks' | 'published' | 'reached' | 'isCurrent' | 'beforeReading'
      >
    >,
  ) => TableSource;
}

export interface RecordGenerations extends Generations<RecordSource> {
  /** Data read before must be read again. */
  forget(): void;
}

/** The generations of the records projection: each has heads of its streams, which its readers use. */
export async function startRecordGenerations(
  deps: RecordGenerationsDeps,
): Promise<RecordGenerations> {
  const highWatermarks = new Map<number, HighWatermarks>();
  const headsOf = ({ generation }: RecordTableSet): HighWatermarks => {
    const existing = highWatermarks.get(generation) ?? createHighWatermarks();
    highWatermarks.set(generation, existing);
    return existing;
  };
  const generations = await startGenerations({
    ...deps,
    topic: records.topic,
    tableSet: records.tableSet,
    openActive: (first: TableSource) => createActiveSource(first, deps),
    isTableOf: (table, generation) =>
      (['read', 'compare'] as const).some((use) =>
        records.tableSet(generation, use).tables.includes(table),
      ),
    dropCopies: (generation) => dropCopies(deps.store, generation),
    openFeed: (options) => deps.openFeed({ ...options, watermarks: headsOf(options.tables) }),
    openSource: ({ tables, ...ref }) =>
      deps.openSource({ ...ref, tables: tables.names, watermarks: headsOf(tables) }),
  });
  return {
    source: generations.source,
    stopped: generations.stopped,
    forget() {
      for (const current of highWatermarks.values()) current.drop('all');
    },
    [Symbol.asyncDispose]: () => generations[Symbol.asyncDispose](),
  };
}

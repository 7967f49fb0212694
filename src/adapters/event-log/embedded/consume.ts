import { setImmediate as breathe } from 'node:timers/promises';
import type { Batch } from '#ports/event-log.ts';
import type { Cursor, LogReader, LogPartition } from './log-reader.ts';
import type { Watcher } from './watcher.ts';

export interface PartitionPosition {
  readonly partition: LogPartition;
  readonly offset: number;
}

interface FollowContext {
  readonly reader: LogReader;
  readonly watcher: Watcher;
  readonly maxBytes: number;
}

const openCursor = ({ partition, offset }: PartitionPosition): Cursor => ({
  partition,
  position: offset,
  pending: [],
  afterPending: offset,
});

/**
 * Merges the partitions round robin, one batch of each that has messages; reads only on demand. Yields to other
 * work of the thread between batches.
 */
export async function* followPlaces(
  from: readonly PartitionPosition[],
  { reader, watcher, maxBytes }: FollowContext,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const ends = await watcher.watch(from.map(({ partition }) => partition.id));
  using bell = watcher.bell(signal);
  // Round robin: a partition that returned a batch goes to the end of the queue.
  const cursors = from.map(openCursor);
  while (!signal.aborted) {
    bell.reset();
    const index = cursors.findIndex((cursor) => hasMore(cursor, ends.get(cursor.partition.id)));
    if (index < 0) {
      await bell.rung();
      continue;
    }
    const [cursor] = cursors.splice(index, 1) as [Cursor];
    cursors.push(cursor);
    await breathe();
    // The signal may have aborted during the pause.
    if ((signal as { aborted: boolean }).aborted) return;
    const batch = reader.fetch(cursor, maxBytes);
    if (batch !== null) yield batch;
  }
}

const hasMore = (cursor: Cursor, end = 0): boolean =>
  cursor.pending.length > 0 || cursor.position < end;

/** Reads from the offset to `end`, the end at the time of the call. */
export async function* readPlace(
  from: PartitionPosition,
  end: number,
  { reader, maxBytes }: Omit<FollowContext, 'watcher'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Batch> {
  const cursor = openCursor(from);
  while (hasMore(cursor, end) && signal?.aborted !== true) {
    const batch = reader.fetch(cursor, maxBytes, end);
    if (batch === null) return;
    yield batch;
    await breathe();
  }
}

import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import type { ReadPartition } from '../position.ts';
import {
  ChangeReader,
  type FeedChange,
  type FeedQuery,
  type FeedServices,
} from '../read-changes.ts';

/** Some changes of a partition, and how far it was read with them. */
export interface ChangeBatch extends ReadPartition {
  /** In order. */
  readonly changes: readonly FeedChange[];
}

export interface BatchLimits {
  /** Changes of it, at most. */
  readonly size: number;
  /** Whether all of them are of one connection. */
  readonly isOfConnection: boolean;
  /** Offset before which it ends; without one at the end of the log. */
  readonly end?: number;
}

/** Of JSON, which one change may exceed. */
const batchBytesMax = 1024 ** 2;

/**
 * The next wanted changes of the partition; none where the log has none up to its end.
 * @throws GatewayError `log_unavailable`
 */
export async function readBatch(
  services: FeedServices,
  query: FeedQuery,
  { partition, next: offset, epoch: fence }: ReadPartition,
  { size, isOfConnection, end = Infinity }: BatchLimits,
  signal: AbortSignal,
): Promise<ChangeBatch> {
  const codec = await services.schemas.codec<RecordChange>(recordsTopic);
  const reader = new ChangeReader(services, query, codec);
  const changes: FeedChange[] = [];
  let bytes = 0;
  let read: ReadPartition = { partition, next: offset, epoch: fence };
  const isFull = ({ text, connectionUid }: FeedChange): boolean => {
    const [first] = changes;
    if (first === undefined) return false;
    if (isOfConnection && first.connectionUid !== connectionUid) return true;
    return changes.length >= size || bytes + text.length > batchBytesMax;
  };
  for await (const batch of services.log.read(
    { topic: recordsTopic, partition, offset },
    { signal },
  )) {
    const found = await reader.read(batch, read.epoch);
    for (const change of found.changes) {
      if (change.next > end || isFull(change)) return { ...read, changes };
      changes.push(change);
      bytes += change.text.length;
      read = { partition, next: change.next, epoch: change.epoch };
    }
    read = { partition, next: found.next, epoch: found.epoch };
    if (read.next >= end) break;
  }
  return { ...read, changes };
}

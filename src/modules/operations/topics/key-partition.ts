import { partitionOf } from '#kernel/partition.ts';

/** How many of the key's first parts choose the partition of a message; every part where a topic is not listed. */
const parts: Readonly<Record<string, number>> = {
  'svc.records.v1': 4,
  'svc.connections.v1': 3,
  'svc.credentials.v1': 3,
  'svc.syncs.v1': 3,
  'svc.runs.v1': 3,
};

/** Topics whose messages are placed by a text that is not part of the key. */
const placedOtherwise = (topic: string): boolean =>
  topic === 'svc.webhooks-out.v1' || topic.startsWith('svc.cdc.');

/**
 * The partition of the messages with the key; null: it does not follow from the key
 * (docs/reference/topics.md#messages).
 */
export function partitionOfKey(topic: string, key: string, partitions: number): number | null {
  if (placedOtherwise(topic)) return null;
  const placing = key.split('/').slice(0, parts[topic]).join('/');
  return partitionOf(placing, partitions);
}

import { dayMs } from '#kernel/time.ts';
import type { Cleanup } from '#ports/event-log.ts';

/**
 * Within this time a superseded value of an erasable topic is in no file of a broker: a minute until its segment
 * may be closed, less until a message closes it, 15 s between two checks of the cleaner, its work, and the delay of
 * the deletion.
 */
export const erasureMs = 5 * 60_000;

type Compaction = Extract<Cleanup, { policy: 'compact' }>;

const mebibyte = 1024 ** 2;

/**
 * A record may have 4 MiB (docs/reference/topics.md#all-topics), and a batch of small messages is kept below 1 MiB
 * (batches.ts); the rest is for key, headers and framing.
 */
const messageBytesMax = 4 * mebibyte + 256 * 1024;

/** Settings of a topic by their names in Kafka. */
export type TopicConfig = Readonly<Record<string, string>>;

/** Required settings of a topic with this cleanup: another value breaks guarantees of the port. */
export function requiredConfig(cleanup: Cleanup): TopicConfig {
  return {
    ...retention(cleanup),
    'max.message.bytes': String(messageBytesMax),
    'message.timestamp.type': 'CreateTime',
  };
}

function retention(cleanup: Cleanup): TopicConfig {
  switch (cleanup.policy) {
    case 'compact':
      return {
        'cleanup.policy': 'compact',
        'min.compaction.lag.ms': String(cleanup.minLagMs),
        'delete.retention.ms': String(cleanup.tombstoneMs),
        ...lagConfig(cleanup),
      };
    case 'delete':
      return {
        'cleanup.policy': 'delete',
        'retention.ms': String(cleanup.retentionMs),
        'retention.bytes': '-1',
      };
    case 'none':
      return { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' };
  }
}

/** How long the former file of a compacted segment remains. */
const fileDeleteDelayMs = 1_000;

/**
 * How long superseded values remain. Only closed segments are compacted, and their former files are deleted later:
 * both soon if the topic is erasable.
 */
export function lagConfig({ maxLagMs, isErasable }: Compaction): TopicConfig {
  const lag = { 'max.compaction.lag.ms': String(maxLagMs) };
  if (isErasable !== true) return lag;
  const segmentMs = String(maxLagMs);
  return { ...lag, 'segment.ms': segmentMs, 'file.delete.delay.ms': String(fileDeleteDelayMs) };
}

export interface NewTopicOptions {
  readonly inSyncMin: number;
  /** Accepts any future timestamp; otherwise the broker's limit applies, by default an hour. */
  readonly allowsFuture: boolean;
}

/** Additional settings of a new topic: an operator may change them later. */
export function initialConfig(cleanup: Cleanup, options: NewTopicOptions): TopicConfig {
  return {
    'min.insync.replicas': String(options.inSyncMin),
    'compression.type': 'producer',
    'segment.bytes': String(256 * mebibyte),
    'segment.ms': String(segmentMs(cleanup)),
    ...(options.allowsFuture ? { 'message.timestamp.after.max.ms': String(2n ** 63n - 1n) } : {}),
  };
}

/** Only closed segments are compacted or deleted: none stays open longer than a day, or than the guarantees allow. */
function segmentMs(cleanup: Cleanup): number {
  switch (cleanup.policy) {
    case 'compact':
      return Math.min(dayMs, cleanup.maxLagMs);
    case 'delete':
      return Math.min(dayMs, cleanup.retentionMs);
    case 'none':
      return dayMs;
  }
}

/** The settings that differ, each as `name is … instead of …`. */
export function differences(wanted: TopicConfig, found: TopicConfig): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => found[name] !== value)
    .map(([name, value]) => `${name} is ${found[name] ?? 'not set'} instead of ${value}`);
}

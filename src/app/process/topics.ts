import type { TopicSpec } from '#ports/event-log.ts';
import { partitionsOf, topics } from '#streams/topics.ts';

/** The topics of `streams/topics.ts` with SVC_PARTITIONS applied. */
export function topicSpecs(ownedPartitions: number): TopicSpec[] {
  return Object.entries(topics).map(([name, topic]) => ({
    name,
    partitions: partitionsOf(topic, ownedPartitions),
    cleanup: topic.cleanup,
  }));
}

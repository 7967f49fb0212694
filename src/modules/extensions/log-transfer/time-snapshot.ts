import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type { EventLog, LogSnapshot, TopicSpec } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { groupsOf } from './export.ts';

interface TimeSnapshotInput {
  readonly log: EventLog;
  readonly schemas: Pick<Schemas, 'definition'>;
  readonly topics: readonly TopicSpec[];
  readonly clock: Clock;
}

/** Between two looks at the ends: longer than brokers need to show a committed transaction in all of its partitions. */
const pauseMs = 500;
const looksMax = 20;

/**
 * A log of several writers as of now: each partition up to its first message with a later timestamp. A message has the time
 * at which its writer sent it, after its causes were read, and the messages of a transaction have one time; so no message
 * is there without its causes, as far as the clocks of the writers agree. Transactions that end meanwhile are waited for.
 * @throws GatewayError `log_unavailable` if the ends do not come to rest
 */
export async function openTimeSnapshot(input: TimeSnapshotInput): Promise<LogSnapshot> {
  const { log, schemas, topics, clock } = input;
  // Before the ends: what a group has done up to its position is in the log as of the snapshot.
  const groups = await groupsOf(log);
  const time = clock.now();
  const ends = await endsAt(input, time);
  const positions = new Map(
    groups.map(({ group, topic, positions: found }) => [
      `${group} ${topic}`,
      new Map(Object.entries(found).map(([partition, at]) => [Number(partition), at])),
    ]),
  );
  const partitions = new Map(topics.map(({ name, partitions: count }) => [name, count]));
  const endOf = (topic: string, partition: number): number =>
    ends.get(`${topic}/${partition}`) ?? 0;
  return {
    identity: () => log.identity(),
    async startOffsets(topic) {
      const starts = await log.startOffsets(topic);
      return starts.map((start, partition) => Math.min(start, endOf(topic, partition)));
    },
    async endOffsets(topic) {
      return Array.from({ length: partitions.get(topic) ?? 0 }, (_, partition) =>
        endOf(topic, partition),
      );
    },
    async committed(group, topic) {
      return positions.get(`${group} ${topic}`) ?? new Map<number, number>();
    },
    async *read(from) {
      const end = endOf(from.topic, from.partition);
      for await (const batch of log.read(from)) {
        yield batch;
        if (batch.next >= end) return;
      }
    },
    schema: (id) => schemas.definition(id),
  };
}

/** By `<topic>/<partition>`, as soon as two looks agree. */
async function endsAt(
  { log, topics }: TimeSnapshotInput,
  time: number,
): Promise<ReadonlyMap<string, number>> {
  const look = async (): Promise<ReadonlyMap<string, number>> => {
    const found = topics.flatMap(({ name, partitions }) =>
      Array.from({ length: partitions }, async (_, partition) => {
        const end = await log.offsetAt(name, partition, time + 1);
        return [`${name}/${partition}`, end] as const;
      }),
    );
    return new Map(await Promise.all(found));
  };
  let former = await look();
  for (let looks = 1; looks < looksMax; looks += 1) {
    await sleep(pauseMs);
    const ends = await look();
    if ([...ends].every(([place, end]) => former.get(place) === end)) return ends;
    former = ends;
  }
  const message =
    'The event log does not come to rest: a transaction stays open. Take the backup again.';
  throw new GatewayError('log_unavailable', { message });
}

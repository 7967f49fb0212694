import { retrying } from '#kernel/retry.ts';
import type { Batch, EventLog, FollowOptions, Position, ReadMessage } from '#ports/event-log.ts';

const retryAfterMs = 250;

/**
 * Consumes the log until the signal aborts. An error, also one of `apply`, is reported; consumption resumes at the
 * first batch that was not applied.
 */
export async function consume(
  log: EventLog,
  from: readonly Position[],
  apply: (batch: Batch) => void | Promise<void>,
  options: FollowOptions & { readonly failed: (error: unknown) => void },
): Promise<void> {
  const { failed, ...following } = options;
  const { signal } = following;
  const next = new Map(from.map((position) => [nameOf(position), position]));
  const follow = async (): Promise<void> => {
    for await (const batch of log.follow([...next.values()], following)) {
      await apply(batch);
      const { topic, partition } = batch;
      next.set(nameOf(batch), { topic, partition, offset: batch.next });
    }
  };
  const pauses = { firstMs: retryAfterMs, lastMs: retryAfterMs };
  await retrying(follow, { signal, isRetryable: () => true, failed, ...pauses }).catch(
    (error: unknown) => {
      if (!signal.aborted) throw error;
    },
  );
}

const nameOf = (partition: { readonly topic: string; readonly partition: number }): string =>
  `${partition.topic}/${partition.partition}`;

/** The first message from the position on, if there is one. */
export async function firstMessage(
  log: Pick<EventLog, 'read'>,
  { topic, partition, offset }: Position,
  options: { readonly signal?: AbortSignal } = {},
): Promise<ReadMessage | null> {
  for await (const { messages } of log.read(
    { topic, partition, offset },
    { ...options, maxBytes: 1 },
  )) {
    const [first] = messages;
    if (first !== undefined) return first;
  }
  return null;
}

/** The ends of all partitions of the topic. */
export async function endsOf(
  log: Pick<EventLog, 'endOffsets'>,
  topic: string,
): Promise<Position[]> {
  const offsets = await log.endOffsets(topic);
  return offsets.map((offset, partition) => ({ topic, partition, offset }));
}

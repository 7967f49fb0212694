import { expect } from 'vitest';
import { controlTopic, type EntityValue } from '#control-plane/message-codec.ts';
import { recordsTopic, headsTopic, type StreamHeadValue } from '#modules/records/model/events.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { consumerGroups } from '#streams/consumer-groups.ts';
import { topics } from '#streams/topics.ts';
import { openLogOf } from '../processes/deployment.ts';
import type { CrmConnection } from '../worlds/crm-world.ts';

/** Runs syncs that find new records, one after the other on each connection, until the task has ended. */
export async function savesUnder(
  connections: readonly CrmConnection[],
  task: () => Promise<void>,
): Promise<void> {
  let isDone = false;
  const saving = connections.map(async (crm) => {
    for (let n = 0; !isDone; n += 1) {
      const added = Array.from({ length: 20 }, (_, i) => ({ id: `busy-${n}-${i}`, name: `${n}` }));
      crm.account.contacts = [...crm.account.contacts, ...added].slice(-60);
      await crm.run('contacts');
    }
  });
  try {
    await task();
  } finally {
    isDone = true;
    await Promise.all(saving);
  }
}

interface StoredMessage {
  readonly key: string;
  readonly headers: object;
  readonly timestamp: number;
  /** Without the frame, whose schema id belongs to its log. */
  readonly value: string | null;
}

const frameBytes = 5;

const hexOf = (value: Uint8Array): string =>
  Buffer.from(value).subarray(frameBytes).toString('hex');

async function messagesIn(
  log: EventLog,
  topic: string,
  partition: number,
  textOf: (value: Uint8Array) => string = hexOf,
) {
  const found: StoredMessage[] = [];
  for await (const { messages } of log.read({ topic, partition, offset: 0 })) {
    for (const { key, headers, timestamp, value } of messages) {
      const text = value === null ? null : textOf(value);
      found.push({ key, headers: { ...headers }, timestamp, value: text });
    }
  }
  return found;
}

/** The values of these topics without the time at which their log was restored. */
async function timelessOf(schemas: Schemas): Promise<ReadonlyMap<string, typeof hexOf>> {
  const heads = await schemas.codec<StreamHeadValue>(headsTopic);
  const entities = await schemas.codec<EntityValue>(controlTopic);
  return new Map([
    [headsTopic, (value) => JSON.stringify({ ...heads.decode(value), last_modified_at: null })],
    [
      controlTopic,
      (value) => JSON.stringify(entities.decode(value)).replace(/(until\\":)\d+(?=\}\])/, '$1'),
    ],
  ]);
}

/**
 * Every message of the log of a stopped gateway, by topic and partition, and the positions of groups; without the time at
 * which it was restored.
 */
export async function messagesOf(dataDir: string): Promise<unknown> {
  await using opened = await openLogOf(dataDir);
  const timeless = await timelessOf(opened.schemas);
  const found: Record<string, unknown> = {};
  for (const topic of Object.keys(topics)) {
    for (let partition = 0; partition < (await opened.log.partitions(topic)); partition += 1) {
      const textOf = timeless.get(topic);
      found[`${topic}/${partition}`] = await messagesIn(opened.log, topic, partition, textOf);
    }
  }
  for (const [group, { topic }] of Object.entries(consumerGroups)) {
    found[group] = [...(await opened.log.committed(group, topic))];
  }
  return found;
}

/** Topics whose values are translated, or that nobody restores. */
const notCompared = new Set([
  headsTopic,
  'svc.internal.control.v1',
  'svc.runs.v1',
  'svc.internal.replies.v1',
  'svc.internal.typed-topics.v1',
]);

/**
 * The restored log has the first messages of every partition of the original one, and its heads are those of its records:
 * one moment of the original.
 */
export async function expectPrefix(restored: string, original: string): Promise<void> {
  await using former = await openLogOf(original);
  await using copy = await openLogOf(restored);
  for (const topic of Object.keys(topics).filter((name) => !notCompared.has(name))) {
    for (let partition = 0; partition < (await copy.log.partitions(topic)); partition += 1) {
      const found = await messagesIn(copy.log, topic, partition);
      const all = await messagesIn(former.log, topic, partition);
      // Compaction of either may have removed superseded messages of small topics meanwhile.
      const isCompacted = topics[topic as keyof typeof topics].cleanup.policy === 'compact';
      if (isCompacted && topic !== recordsTopic) continue;
      expect(found, `${topic}/${partition}`).toEqual(all.slice(0, found.length));
    }
  }
  await expectHeads(copy);
}

async function expectHeads({ log, schemas }: Awaited<ReturnType<typeof openLogOf>>): Promise<void> {
  const codec = await schemas.codec<StreamHeadValue>(headsTopic);
  let streams = 0;
  for (let partition = 0; partition < (await log.partitions(headsTopic)); partition += 1) {
    const heads = new Map<string, number>();
    for await (const { messages } of log.read({ topic: headsTopic, partition, offset: 0 })) {
      for (const { key, value } of messages) {
        if (value !== null) heads.set(key, codec.decode(value).stream_seq);
      }
    }
    const changes = new Map<string, number>();
    for await (const { messages } of log.read({ topic: recordsTopic, partition, offset: 0 })) {
      for (const { headers } of messages) {
        const stream = headers['svc-stream'];
        if (stream !== undefined) changes.set(stream, Number(headers['svc-seq']));
      }
    }
    streams += changes.size;
    const missing = [...changes].filter(([stream, seq]) => heads.get(stream) !== seq);
    expect(missing, `heads of ${headsTopic}/${partition}: ${JSON.stringify([...heads])}`).toEqual(
      [],
    );
  }
  expect(streams).toBeGreaterThan(0);
}

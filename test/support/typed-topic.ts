import { join } from 'node:path';
import { expect } from 'vitest';
import { openEmbeddedLog } from '../../src/adapters/event-log/embedded/open.ts';
import { joinKey } from '../../src/kernel/ids.ts';
import type { JsonObject } from '../../src/kernel/stable-json.ts';
import { partitionOf } from '../../src/kernel/partition.ts';
import type { RecordChange } from '../../src/modules/records/events.ts';
import { recordsTopic } from '../../src/modules/records/stream-head.ts';
import { typedSchema, type Envelope } from '../../src/modules/operations/typed-topics/envelope.ts';
import { topicOf } from '../../src/modules/operations/typed-topics/names.ts';
import type { EventLog, Headers } from '../../src/ports/event-log.ts';
import type { Schemas } from '../../src/ports/schemas.ts';
import { readAll } from './log.ts';

export interface TypedMessage {
  readonly partition: number;
  readonly key: string;
  readonly headers: Headers;
  /** Null of a tombstone. */
  readonly value: Envelope | null;
}

/** What a log has on a typed topic, and of its model on the records topic. */
export interface TypedRead {
  /** Of either topic. */
  readonly partitions: number;
  readonly messages: readonly TypedMessage[];
  readonly changes: readonly RecordChange[];
}

export interface TypedOf {
  readonly address: string;
  readonly major?: number;
  readonly model: string;
  readonly models: JsonObject;
}

/** Of a gateway with the embedded log, which has stopped. */
export async function readTypedTopic(dataDir: string, of: TypedOf): Promise<TypedRead> {
  await using embedded = await openEmbeddedLog({ directory: join(dataDir, 'log') });
  return await readTyped(embedded, of);
}

export async function readTyped(
  { log, schemas }: { readonly log: EventLog; readonly schemas: Schemas },
  { address, major = 1, model, models }: TypedOf,
): Promise<TypedRead> {
  const topic = topicOf(address, major);
  const { definition } = typedSchema(address, model, models);
  const codec = await schemas.codecOf<Envelope>(topic, definition);
  const changeCodec = await schemas.codec<RecordChange>(recordsTopic);
  const messages: TypedMessage[] = [];
  const changes: RecordChange[] = [];
  const partitions = await log.partitions(topic);
  for (let partition = 0; partition < partitions; partition++) {
    for (const { key, value, headers } of await readAll(log, topic, partition)) {
      const decoded = value === null ? null : codec.decode(value);
      messages.push({ partition, key, headers, value: decoded });
    }
    for (const { value } of await readAll(log, recordsTopic, partition)) {
      const change = value === null ? null : changeCodec.decode(value);
      if (change?.model === model) changes.push(change);
    }
  }
  return { partitions, messages, changes };
}

/** The table that a sink makes of the topic: upserts, and deletes by key. */
export function tableOf(messages: readonly TypedMessage[]): Map<string, Envelope['after']> {
  const table = new Map<string, Envelope['after']>();
  for (const { key, value } of messages) {
    if (value === null || value.op === 'd') table.delete(key);
    else table.set(key, value.after);
  }
  return table;
}

/** Each change of a row is published once, in the order and on the partition of the records topic. */
export function expectEachOnce({ partitions, messages, changes }: TypedRead): void {
  const told = changes.filter(({ action }) => ['added', 'updated', 'deleted'].includes(action));
  const events = messages.filter(({ value }) => value !== null);
  expect(events.map(({ headers }) => `${headers['svc-stream']} ${headers['svc-seq']}`)).toEqual(
    told.map((one) => {
      const { environment_id: environment, connection_uid: uid, model, variant } = one;
      return `${joinKey(environment, uid, model, variant)} ${one.stream_seq}`;
    }),
  );
  expect(new Set(events.map(({ headers }) => headers['ce_id'])).size).toBe(events.length);
  for (const { partition, headers } of messages) {
    expect(partition).toBe(partitionOf(headers['svc-stream'] ?? '', partitions));
  }
}

import { join } from 'node:path';
import { expect } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { typedSchema, type Envelope } from '#modules/extensions/typed-topics/envelope.ts';
import { topicOf } from '#modules/extensions/typed-topics/names.ts';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import type { EventLog, Headers } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import type { GatewayAccess } from '../processes/gateway.ts';
import { succeeded } from '../worlds/crm-world.ts';
import { readAll } from '../worlds/log.ts';

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

/** Of a running gateway, over its API. */
export async function messagesShown(
  gateway: GatewayAccess,
  topic: string,
): Promise<Omit<TypedRead, 'changes'>> {
  const shown = await allShown(gateway, topic);
  const messages = shown.map(({ value, ...rest }) => ({
    ...rest,
    value: value as Envelope | null,
  }));
  return { partitions: await partitionsOf(gateway, topic), messages };
}

/** What the records topic has of a model, in the environment of its typed messages. */
export async function changesShown(
  gateway: GatewayAccess,
  model: string,
  [first]: readonly TypedMessage[],
): Promise<RecordChange[]> {
  const source = first?.headers['ce_source'] ?? '';
  const shown = await allShown(gateway, recordsTopic);
  return shown
    .map(({ value }) => value as RecordChange | null)
    .filter((change) => change !== null)
    .filter((change) => change.model === model)
    .filter(({ environment_id: uid }) => source.startsWith(`/environments/${uid}/`));
}

interface Shown extends Omit<TypedMessage, 'value'> {
  readonly kind: string;
  readonly value: unknown;
}

async function partitionsOf(gateway: GatewayAccess, topic: string): Promise<number> {
  const answer = await gateway.call('GET', `/topics/${topic}`, { key: gateway.accountKey });
  const { data } = succeeded(answer) as { data: { partitions: number } };
  return data.partitions;
}

/** Partition by partition, each in the order of its offsets. */
async function allShown(gateway: GatewayAccess, topic: string): Promise<Shown[]> {
  const found: Shown[] = [];
  const count = await partitionsOf(gateway, topic);
  for (let partition = 0; partition < count; partition++) {
    for (let cursor: string | null = null; ;) {
      const query = new URLSearchParams({
        partition: String(partition),
        offset: '0',
        limit: '500',
      });
      if (cursor !== null) query.set('cursor', cursor);
      const path = `/topics/${topic}/messages?${query.toString()}`;
      const answer = await gateway.call('GET', path, { key: gateway.accountKey });
      const page = succeeded(answer) as { data: Shown[]; next_cursor: string | null };
      expect(page.data.filter(({ kind }) => kind === 'unreadable')).toEqual([]);
      found.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
  }
  return found;
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

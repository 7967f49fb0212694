import { randomBytes } from 'node:crypto';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistrySchemas } from '#adapters/event-log/registry/open.ts';
import type { EventLog } from '#ports/event-log.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import {
  expectEachOnce,
  readTyped,
  tableOf,
  type TypedRead,
} from '#test/support/judges/typed-topic.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { openTestLog } from '#test/support/worlds/kafka-open.ts';
import { readAll } from '#test/support/worlds/log.ts';

const address = 'svc.cdc.dev.crm.contact';
const partitions = 2;
const text = { type: 'string' };
const of = {
  address,
  model: 'Contact',
  models: {
    definitions: { Contact: { type: 'object', properties: { id: text, name: text, email: text } } },
  },
};

const prefix = ownPrefix();
let world: CrmWorld;
let log: EventLog;
let opened: AsyncDisposable;
beforeAll(async () => {
  world = await openCrmWorld({
    env: {
      SVC_LOG_URL: serviceUrl('kafka'),
      SVC_REGISTRY_URL: serviceUrl('registry'),
      SVC_TOPIC_PREFIX: prefix,
      SVC_PARTITIONS: String(partitions),
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
  });
  ({ log } = opened = await openTestLog(serviceUrl('kafka'), { prefix }));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await opened[Symbol.asyncDispose]();
});

const contact = (id: string, name = id) => ({ id, name });
const read = () => {
  const schemas = openRegistrySchemas({ url: serviceUrl('registry'), prefix });
  return readTyped({ log, schemas }, of);
};
const opsOf = ({ messages }: TypedRead, id: string) =>
  messages.filter(({ key }) => key.endsWith(`/${id}`)).map(({ value }) => value?.op ?? 'tombstone');

describe('a typed topic in Kafka', () => {
  it('is filled, goes on, and has each change once, over a restart too', async () => {
    const crm = await world.connect();
    const save = async (...contacts: { id: string; name: string }[]) => {
      crm.account.contacts = contacts;
      expect(await crm.run('contacts')).toMatchObject({ success: true });
    };
    await save(contact('old'), contact('gone'));
    const enabled = succeeded(
      await world.gateway.call('PUT', '/typed-topics/crm/Contact'),
    ) as object;
    expect(enabled).toMatchObject({ data: { topic: `${prefix}.cdc.dev.crm.contact.v1` } });
    await save(contact('old', 'renamed'), contact('new'));
    await world.restart();
    await save(contact('old', 'renamed'), contact('new'), contact('last'));
    // The topic is made after it was asked for.
    const found = await eventually(
      () => read().catch(() => ({ partitions, messages: [], changes: [] })),
      (known: TypedRead) => opsOf(known, 'last').length > 0,
    );
    expectEachOnce(found);
    expect(opsOf(found, 'gone').slice(-2)).toEqual(['d', 'tombstone']);
    expect(opsOf(found, 'old')[0]).toBe('r');
    const rows = [...tableOf(found.messages).values()].map((row) => [row!['id'], row!['name']]);
    expect(rows.sort()).toEqual([
      ['last', 'last'],
      ['new', 'new'],
      ['old', 'renamed'],
    ]);
  });

  it('is read by the schema that the registry has for it', async () => {
    const registry = new SchemaRegistry({ host: serviceUrl('registry') });
    const topic = `${address}.v1`;
    const all = await Promise.all([0, 1].map((partition) => readAll(log, topic, partition)));
    const values = all.flat().flatMap(({ value }) => (value === null ? [] : [Buffer.from(value)]));
    const decoded = (await Promise.all(values.map((value) => registry.decode(value)))) as {
      op: string;
      after: { id: string } | null;
    }[];
    expect(decoded.filter(({ after }) => after?.id === 'last')).toMatchObject([{ op: 'c' }]);
    const subject = `${prefix}.cdc.dev.crm.contact.v1-value`;
    const answer = await fetch(`${serviceUrl('registry')}/subjects/${subject}/versions/latest`);
    const { schema } = (await answer.json()) as { schema: string };
    expect(JSON.parse(schema)).toMatchObject({ name: 'Envelope', namespace: address });
  });
});

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { JsonObject } from '#kernel/stable-json.ts';
import { startKafka } from '#test/services/kafka.ts';
import { startRegistry } from '#test/services/registry.ts';
import type { Service } from '#test/services/service.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { compiledFunctions } from '#test/support/worlds/deploy.ts';

/** Takes the lines that a recipe reports. */
export type Report = (line: string) => void;

/** Kafka, a schema registry, and a gateway on both with a provider of contacts. */
export interface RecipeWorld extends AsyncDisposable {
  /** `host:port`. */
  readonly brokers: string;
  readonly kafka: kafkajs.Kafka;
  readonly registry: Service;
  readonly crm: CrmWorld;
}

export async function openRecipeWorld(report: Report): Promise<RecipeWorld> {
  await using stack = new AsyncDisposableStack();
  report('starting Kafka, a schema registry and the gateway');
  const log = stack.use(await startKafka());
  const registry = stack.use(await startRegistry());
  const crm = stack.use(
    await openCrmWorld({
      env: {
        SVC_LOG_URL: log.url,
        SVC_REGISTRY_URL: registry.url,
        SVC_PARTITIONS: '2',
        SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      },
    }),
  );
  const brokers = log.url.replace('kafka://', '');
  const kafka = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
  const opened = stack.move();
  return { brokers, kafka, registry, crm, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** For Apicurio's converters and serdes. */
export const registryUrl = ({ url }: Pick<Service, 'url'>): string =>
  new URL('/apis/registry/v2', url).href;

const text = { type: 'string' };

/** The fields of a contact at first; a recipe adds more. */
export const contactFields = {
  id: text,
  name: text,
  email: text,
  score: { type: 'number' },
  isActive: { type: 'boolean' },
  joinedAt: { type: 'string', format: 'date-time' },
} as const;

/** Deploys the functions of the integration `crm`, whose model Contact gets these fields. */
export async function deployContact({ crm }: RecipeWorld, fields: JsonObject): Promise<void> {
  const body = JSON.stringify(await compiledFunctions(), (key, value: unknown) => {
    const isModel = key === 'Contact' && typeof value === 'object' && value !== null;
    return isModel && 'properties' in value ? { ...value, properties: fields } : value;
  });
  const path = '/functions/deployments/bundle';
  succeeded(await crm.gateway.call('POST', path, { body: JSON.parse(body) as object }));
}

export interface Contact {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** So many contacts, whose names begin with the word. */
export const contacts = (length: number, name: string): Contact[] =>
  Array.from({ length }, (_, index) => ({
    id: `c-${index}`,
    name: `${name} ${index}`,
    email: index % 7 === 0 ? null : `c${index}@example.com`,
    score: index / 8,
    isActive: index % 2 === 0,
    joinedAt: new Date(Date.UTC(2020, 0, 1) + index * 1_000_001).toISOString(),
    ...(index % 5 === 0 ? { note: `undeclared "${index}"` } : {}),
  }));

/** Gives the account these contacts and runs the sync that saves them, and deletes those that are gone. */
export async function syncContacts(
  connection: CrmConnection,
  contacts: readonly Contact[],
): Promise<void> {
  connection.account.contacts = [...contacts];
  const { success, error } = await connection.run('contacts');
  if (!success) throw new Error(`The sync failed: ${JSON.stringify(error)}`);
}

/** `GET /records` of all connections: the records that are not deleted, by `connection id/record id`. */
export async function currentRecords(
  connections: readonly CrmConnection[],
): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  for (const connection of connections) {
    for (const { _svc_metadata: metadata, ...record } of await connection.all('Contact')) {
      if (metadata.last_action === 'DELETED') continue;
      found.set(`${connection.id}/${record.id}`, record as JsonObject);
    }
  }
  return found;
}

/** A recipe of `deploy/connect`, as it is sent to a worker. */
export async function connectorConfig(file: string): Promise<Record<string, string>> {
  const url = new URL(`../../deploy/connect/${file}`, import.meta.url);
  return JSON.parse(await readFile(url, 'utf8')) as Record<string, string>;
}

/** Where the recipes of `deploy/connect` put what they cannot process. */
export const deadLetters = 'data.dead-letters';

export async function createTopic({ kafka }: RecipeWorld, topic: string): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false });
  await admin.disconnect();
}

export async function messageCount({ kafka }: RecipeWorld, topic: string): Promise<number> {
  const admin = kafka.admin();
  await admin.connect();
  const partitions = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  return partitions.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
}

/** Number of different keys in a topic of one partition: a worker that is killed may write a message twice. */
export async function keyCount(world: RecipeWorld, topic: string): Promise<number> {
  const end = await messageCount(world, topic);
  const keys = new Set<string>();
  if (end === 0) return 0;
  const groupId = `data.keys-${randomBytes(6).toString('hex')}`;
  const consumer = world.kafka.consumer({ groupId });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    const eachMessage = ({ message }: kafkajs.EachMessagePayload): Promise<void> => {
      keys.add(String(message.key));
      if (Number(message.offset) >= end - 1) resolve();
      return Promise.resolve();
    };
    consumer.run({ eachMessage }).catch(reject);
  });
  await consumer.disconnect();
  return keys.size;
}

/** Resolves when the group that writes typed topics has read all that the records topic has. */
export async function topicHasAll({ kafka }: RecipeWorld, topic: string): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  while (!(await admin.listTopics()).includes(topic)) await wait(100);
  let isBehind = true;
  while (isBehind) {
    await wait(250);
    const ends = await admin.fetchTopicOffsets('svc.records.v1');
    const groups = { groupId: 'svc.typed-topics', topics: ['svc.records.v1'] };
    const [read] = await admin.fetchOffsets(groups);
    const positions = new Map(read?.partitions.map((one) => [one.partition, Number(one.offset)]));
    // The marker of the last transaction may stay unread.
    isBehind = ends.some(
      ({ partition, high }) => (positions.get(partition) ?? 0) < Number(high) - 1,
    );
  }
  await admin.disconnect();
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Kafka } from 'kafkajs';
import type { JsonObject } from '#kernel/stable-json.ts';
import { cached } from '#test/services/cache.ts';
import { announce, requireJdk } from '#test/services/commands.ts';
import { copyDependencies } from '#test/services/maven.ts';
import { startService, type Service } from '#test/services/service.ts';
import { versions } from '#test/services/versions.ts';
import { succeeded } from '#test/support/worlds/crm-world.ts';
import { differencesOf, type Copied } from '../differences.ts';
import {
  contactFields,
  contacts,
  createTopic,
  currentRecords,
  deployContact,
  openRecipeWorld,
  registryUrl,
  syncContacts,
  type RecipeWorld,
  type Report,
} from '../world.ts';

const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const count = 600;
const compareForMs = 120_000;
const tables = ['data.current-contacts', 'data.contact-counts'] as const;

/** A Kafka Streams program keeps the current table and counts by connection, and is killed while it does. */
export async function playStreams(
  report: Report,
): Promise<{ readonly records: number; readonly differences: readonly string[] }> {
  await using world = await openRecipeWorld(report);
  await deployContact(world, contactFields);
  const connections = [await world.crm.connect(), await world.crm.connect()];
  report('saving contacts, and opting the model in');
  for (const one of connections) await syncContacts(one, contacts(count, 'first'));
  succeeded(await world.crm.gateway.call('PUT', '/typed-topics/crm/Contact'));
  for (const topic of tables) await createTopic(world, topic);
  report('starting CurrentContacts.java');
  await using program = await startProgram(world);
  await using copy = await followTables(world.kafka);
  while (copy.table(tables[0]).size < count) await wait(100);
  report('changing a third of the contacts, deleting a third, and killing the program (SIGKILL)');
  const changing = connections.map((one) => syncContacts(one, changed()));
  await wait(500);
  await program.kill();
  await Promise.all(changing);
  await program.restart();
  report('comparing its topics with GET /records');
  const expected = await currentRecords(connections);
  const counts = new Map(connections.map(({ id }) => [id, String(changed().length)]));
  const deadline = performance.now() + compareForMs;
  for (;;) {
    const differences = [
      ...differencesOf(expected, [...copy.table(tables[0]).values()].map(contactOf)),
      ...wrongCounts(counts, copy.table(tables[1])),
    ];
    if (differences.length === 0 || performance.now() > deadline) {
      report(`${expected.size} records, ${differences.length} differences`);
      return { records: expected.size, differences };
    }
    await wait(250);
  }
}

const changed = () =>
  contacts(count, 'first')
    .filter((_, index) => index % 3 !== 0)
    .map((one, index) => (index % 2 === 0 ? { ...one, name: `second ${one.id}` } : one));

/** The topic exists a moment after the opt-in. */
async function startProgram({ brokers, kafka, registry }: RecipeWorld): Promise<Service> {
  const libraries = await installLibraries();
  const topic = 'svc.cdc.dev.crm.contact.v1';
  const admin = kafka.admin();
  await admin.connect();
  while (!(await admin.listTopics()).includes(topic)) await wait(100);
  await admin.disconnect();
  const jvm = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  return startService({
    name: 'CurrentContacts.java',
    url: topic,
    command: 'sh',
    // The folder of data is known only here.
    args: (folder) => [
      '-c',
      'STATE_DIR="$1" && export STATE_DIR && shift && exec java "$@"',
      ...['sh', join(folder, 'state')],
      ...[...jvm, '-cp', `${libraries}/*`, own('CurrentContacts.java')],
    ],
    env: { KAFKA_BROKERS: brokers, REGISTRY_URL: registryUrl(registry), TOPIC: topic },
    isReady: (output) => output.includes('state RUNNING'),
  });
}

async function installLibraries(): Promise<string> {
  await requireJdk('The program of Kafka Streams');
  const pom = own('pom.xml');
  const digest = createHash('sha256').update(await readFile(pom));
  const { kafka, converter, slf4j } = versions;
  const name = `streams-${[kafka, converter, digest.digest('hex').slice(0, 12)].join('-')}`;
  return cached(name, async (path) => {
    announce(`fetching Kafka Streams ${kafka} with Maven (about 100 MB, once)`);
    const properties = {
      'kafka.version': kafka,
      'converter.version': converter,
      'slf4j.version': slf4j,
    };
    await copyDependencies(pom, path, properties);
  });
}

interface Tables extends AsyncDisposable {
  /** The last value of each key. */
  table(topic: (typeof tables)[number]): ReadonlyMap<string, string>;
}

/** Follows the topics of the program. */
async function followTables(kafka: Kafka): Promise<Tables> {
  const found = new Map<string, Map<string, string>>(tables.map((topic) => [topic, new Map()]));
  const consumer = kafka.consumer({ groupId: 'data.recipe' });
  await consumer.connect();
  await consumer.subscribe({ topics: [...tables], fromBeginning: true });
  await consumer.run({
    eachMessage({ topic, message: { key, value } }) {
      const table = found.get(topic);
      if (value === null) table?.delete(String(key));
      else table?.set(String(key), value.toString());
      return Promise.resolve();
    },
  });
  return {
    table: (topic) => found.get(topic) ?? new Map<string, string>(),
    [Symbol.asyncDispose]: () => consumer.disconnect(),
  };
}

/** The record of a row: its fields, and those that the model does not declare. */
function contactOf(row: string): Copied {
  const { _connection_id: connection, _extra: extra, ...fields } = JSON.parse(row) as JsonObject;
  const { _variant: _, _deleted: __, joinedAt, id, ...rest } = fields;
  const undeclared = Object.entries(extra as Record<string, string>).map(
    ([name, value]) => [name, JSON.parse(value)] as const,
  );
  const date = new Date(Number(joinedAt) / 1000).toISOString();
  const record = { ...rest, id, joinedAt: date, ...Object.fromEntries(undeclared) } as JsonObject;
  return { connection: connection as string, id: id as string, record };
}

const wrongCounts = (
  expected: ReadonlyMap<string, string>,
  counts: ReadonlyMap<string, string>,
): string[] =>
  [...expected]
    .filter(([connection, number]) => counts.get(connection) !== number)
    .map(
      ([connection, number]) => `${connection}: ${counts.get(connection)} counted, not ${number}`,
    );

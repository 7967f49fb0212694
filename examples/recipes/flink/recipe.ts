import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '#kernel/stable-json.ts';
import { cached } from '#test/services/cache.ts';
import { announce, requireJdk, run } from '#test/services/commands.ts';
import { copyDependencies } from '#test/services/maven.ts';
import { versions } from '#test/services/versions.ts';
import { succeeded } from '#test/support/worlds/crm-world.ts';
import { differencesOf, type Copied } from '../differences.ts';
import {
  contactFields,
  contacts,
  currentRecords,
  deployContact,
  openRecipeWorld,
  syncContacts,
  topicHasAll,
  type RecipeWorld,
  type Report,
} from '../world.ts';

const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const count = 200;
const topic = 'svc.cdc.dev.crm.contact.v1';

/** Flink SQL reads the current contacts of a typed topic with old rows, which it needs for updates. */
export async function playFlink(
  report: Report,
): Promise<{ readonly records: number; readonly differences: readonly string[] }> {
  await using world = await openRecipeWorld(report);
  await deployContact(world, contactFields);
  const connections = [await world.crm.connect(), await world.crm.connect()];
  report('saving contacts, opting the model in with old rows, changing and deleting some');
  for (const one of connections) await syncContacts(one, contacts(count, 'first'));
  const path = '/typed-topics/crm/Contact?before=true';
  succeeded(await world.crm.gateway.call('PUT', path));
  const first = contacts(count, 'first');
  const renamed = first.slice(20, 80).map((one) => ({ ...one, name: 'renamed', score: null }));
  for (const one of connections) await syncContacts(one, [...renamed, ...first.slice(80)]);
  const expected = await currentRecords(connections);
  await topicHasAll(world, topic);
  report('reading the topic with Flink SQL');
  const lines = (await readWithFlink(world)).split('\n').map((line) => line.split('\t'));
  const rows = lines.filter(([kind]) => kind === 'row').map(copiedOf);
  const counts = lines
    .filter(([kind]) => kind === 'count')
    .map(([, ...columns]) => columns.join(' '));
  const countsExpected = connections.map(({ id }) => `${id} ${count - 20}`).toSorted();
  const fields = new Map([...expected].map(([key, record]) => [key, columnsOf(record)]));
  const differences = [
    ...differencesOf(fields, rows),
    ...(counts.join() === countsExpected.join() ? [] : [`counts: ${counts.join()}`]),
  ];
  report(`${expected.size} records, ${differences.length} differences`);
  return { records: expected.size, differences };
}

async function readWithFlink({ brokers, registry }: RecipeWorld): Promise<string> {
  const libraries = await installLibraries();
  const opened = ['java.util', 'java.lang', 'java.time'].flatMap((name) => [
    '--add-opens',
    `java.base/${name}=ALL-UNNAMED`,
  ]);
  const jvm = ['-Xmx768m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...opened];
  const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
  const args = [...jvm, quiet, '-cp', `${libraries}/*`, own('CurrentContacts.java')];
  const env = { ...process.env, KAFKA_BROKERS: brokers, REGISTRY_URL: registry.url, TOPIC: topic };
  return run('java', args, { env });
}

async function installLibraries(): Promise<string> {
  await requireJdk('The program of Flink');
  const pom = own('pom.xml');
  const { flink, flinkKafka, flinkAvro, slf4j } = versions;
  const digest = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 12);
  return cached(`flink-${[flink, flinkKafka, flinkAvro, digest].join('-')}`, async (path) => {
    announce(`fetching Flink ${flink} with Maven (about 160 MB, once)`);
    await copyDependencies(pom, path, {
      'flink.version': flink,
      'flink.kafka.version': flinkKafka,
      'flink.avro.version': flinkAvro,
      'slf4j.version': slf4j,
    });
  });
}

/** The columns that the query selects. */
const columnsOf = ({ id, name, email, score, isActive }: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries({ id, name, email, score, isActive }).map(([field, value]) => [
      field,
      value ?? null,
    ]),
  );

function copiedOf([
  ,
  connection = '',
  id = '',
  name = '',
  email,
  score,
  isActive,
]: string[]): Copied {
  const record = {
    id,
    name,
    email: email === 'null' ? null : (email ?? null),
    score: score === 'null' ? null : Number(score),
    isActive: isActive === 'true',
  };
  return { connection, id, record };
}

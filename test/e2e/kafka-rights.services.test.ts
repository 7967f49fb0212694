/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access --
   a test looks into any answer */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs, { type Kafka } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startKafkaCluster, type KafkaCluster } from '#test/services/kafka-cluster.ts';
import { serviceUrl } from '#test/services/url.ts';
import { daysLater } from '#test/support/processes/days-later.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const prefix = 'gateway-eu';
const inKafka = (topic: string): string => topic.replace(/^svc\./, `${prefix}.`);

let stack: AsyncDisposableStack;
let cluster: KafkaCluster;
let variables: Record<string, string>;
let world: CrmWorld;
let crm: CrmConnection;

/** What `svc topics grant` prints, run as the administrator of the cluster. */
async function grant(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, 'topics', 'grant', ...args],
    { env: { ...process.env, ...variables, SVC_LOG_URL: cluster.urlOf('admin') } },
  );
  return stdout;
}

kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
  compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer),
  decompress: async (buffer: Buffer) => zstdDecompressSync(buffer),
});

const as = (user: string): Kafka =>
  new kafkajs.Kafka({
    brokers: [...cluster.brokers],
    ssl: { ca: [cluster.certificate] },
    sasl: { mechanism: 'scram-sha-512', username: user, password: cluster.passwordOf(user) },
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 2 },
  });

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-rights-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  cluster = stack.use(await startKafkaCluster(['gateway', 'reports']));
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, cluster.certificate);
  variables = { SVC_TOPIC_PREFIX: prefix, NODE_EXTRA_CA_CERTS: authority };
  await grant('--principal', 'User:gateway', '--service', '--apply');
  world = stack.use(
    await openCrmWorld({
      env: {
        ...variables,
        SVC_LOG_URL: cluster.urlOf('gateway'),
        SVC_REGISTRY_URL: serviceUrl('registry'),
        SVC_REDIS_URL: serviceUrl('redis'),
        SVC_PARTITIONS: '4',
        SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      },
    }),
  );
  crm = await world.connect();
  crm.account.contacts = [{ id: 'c-1', name: 'Ada' }];
  expect(await crm.run('contacts')).toMatchObject({ success: true });
});
afterAll(() => stack.disposeAsync());

describe('the service with the rights that it lists', () => {
  it('syncs, reads, acts and follows, also after a restart', async () => {
    succeeded(await world.gateway.call('PUT', '/typed-topics/crm/Contact'));
    await world.restart();
    crm.account.contacts = [{ id: 'c-1', name: 'Ada Lovelace' }];
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    const { records } = await crm.records('Contact');
    expect(records).toMatchObject([{ id: 'c-1', name: 'Ada Lovelace' }]);
    const { changes } = succeeded(await world.gateway.call('GET', '/changes'));
    expect(changes).toHaveLength(2);
  });

  it('shows its topics and groups, with three copies of each partition', async () => {
    const key = world.gateway.accountKey;
    const { data: topics } = succeeded(await world.gateway.call('GET', '/topics', { key }));
    expect(topics.length).toBeGreaterThan(10);
    const { data: groups } = succeeded(
      await world.gateway.call('GET', '/consumer-groups', { key }),
    );
    expect(groups.length).toBeGreaterThan(2);
    const admin = as('admin').admin();
    await admin.connect();
    const { topics: described } = await admin.fetchTopicMetadata({
      topics: [inKafka('svc.records.v1')],
    });
    await admin.disconnect();
    expect(described[0]?.partitions.map(({ replicas }) => replicas.length)).toEqual([3, 3, 3, 3]);
  });

  it('goes on after a day where it may not delete decided commands', async () => {
    const deny = {
      resourceType: kafkajs.AclResourceTypes.TOPIC,
      resourceName: inKafka('svc.internal.'),
      resourcePatternType: kafkajs.ResourcePatternTypes.PREFIXED,
      principal: 'User:gateway',
      host: '*',
      operation: kafkajs.AclOperationTypes.DELETE,
      permissionType: kafkajs.AclPermissionTypes.DENY,
    };
    const admin = as('admin').admin();
    await admin.connect();
    await admin.createAcls({ acl: [deny] });
    await world.restart(undefined, daysLater(2));
    await eventually(
      async () => world.gateway.log.join('\n'),
      (log) => log.includes('decided commands could not be deleted'),
    );
    crm.account.contacts = [{ id: 'c-1', name: 'Ada King' }];
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    await admin.deleteAcls({ filters: [deny] });
    await admin.disconnect();
  });

  it('deletes decided commands after a day, and groups of its own', async () => {
    await world.restart(undefined, daysLater(2));
    const admin = as('gateway').admin();
    await admin.connect();
    const starts = async (): Promise<number> => {
      const offsets = await admin.fetchTopicOffsets(inKafka('svc.internal.record-commands.v1'));
      return Math.max(...offsets.map(({ low }) => Number(low)));
    };
    expect(await eventually(starts, (start) => start > 0)).toBeGreaterThan(0);
    const groupId = `${prefix}.dev.contacts-projection`;
    const member = as('gateway').consumer({ groupId });
    await member.connect();
    await member.subscribe({ topic: inKafka('svc.records.v1') });
    await member.run({ eachMessage: () => Promise.resolve() });
    await member.disconnect();
    await admin.deleteGroups([groupId]);
    await admin.disconnect();
    await world.restart();
  });

  it('goes on without one of three brokers', async () => {
    await cluster.nodes[2]!.kill();
    crm.account.contacts = [{ id: 'c-2', name: 'Grace' }];
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    await cluster.nodes[2]!.restart();
  });
});

describe('a principal with read on one topic', () => {
  const topic = inKafka('svc.records.v1');
  let reports: Kafka;
  beforeAll(async () => {
    reports = as('reports');
    const printed = await grant(
      '--principal',
      'User:reports',
      '--read',
      'svc.records.v1',
      '--apply',
    );
    expect(printed.trim().split('\n')).toHaveLength(2);
    // Brokers learn of a right one after the other.
    const admin = reports.admin();
    await admin.connect();
    await eventually(
      () => admin.listTopics(),
      (listed) => listed.length > 0,
    );
    expect(await admin.listTopics()).toEqual([topic]);
    await admin.disconnect();
  });

  /** Reads one message of the topic in the group. */
  async function read(name: string, groupId: string): Promise<string> {
    const consumer = reports.consumer({ groupId });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    consumer.on(consumer.events.CRASH, ({ payload: { error } }) => reject(error));
    try {
      await consumer.connect();
      await consumer.subscribe({ topic: name, fromBeginning: true });
      await consumer.run({ eachMessage: async ({ message }) => resolve(String(message.key)) });
      return await promise;
    } finally {
      await consumer.disconnect();
    }
  }

  it('reads it', async () => {
    expect(await read(topic, 'data.reports')).toContain('Contact');
  });

  it('is refused by every other topic', async () => {
    const all = as('admin').admin();
    await all.connect();
    const others = (await all.listTopics()).filter(
      (name) => name.startsWith(`${prefix}.`) && name !== topic,
    );
    await all.disconnect();
    expect(others.length).toBeGreaterThan(10);
    for (const other of others) {
      await expect(read(other, 'data.reports'), other).rejects.toThrow(/not authorized/i);
    }
  });

  it('is refused by groups and transactions of the service, and may write and create nothing', async () => {
    // A coordinator is not named to whom the group is closed.
    await expect(read(topic, `${prefix}-owners`)).rejects.toThrow(/group coordinator/i);
    const messages = [{ key: 'k', value: 'v' }];
    const producer = reports.producer();
    await producer.connect();
    await expect(producer.send({ topic, messages })).rejects.toThrow(/not authorized/i);
    await producer.disconnect();
    const writer = reports.producer({ transactionalId: `${prefix}-owner`, maxInFlightRequests: 1 });
    await writer.connect();
    await expect(writer.transaction()).rejects.toThrow(/not authorized|group coordinator/i);
    await writer.disconnect();
    const admin = reports.admin();
    await admin.connect();
    const named = { topics: [{ topic: inKafka('svc.new.v1'), numPartitions: 1 }] };
    await expect(admin.createTopics(named)).rejects.toThrow();
    await expect(admin.deleteTopics({ topics: [topic] })).rejects.toThrow();
    await expect(
      admin.createAcls({
        acl: [
          {
            resourceType: kafkajs.AclResourceTypes.TOPIC,
            resourceName: topic,
            resourcePatternType: kafkajs.ResourcePatternTypes.LITERAL,
            principal: 'User:reports',
            host: '*',
            operation: kafkajs.AclOperationTypes.ALL,
            permissionType: kafkajs.AclPermissionTypes.ALLOW,
          },
        ],
      }),
    ).rejects.toThrow(/authorization failed/i);
    await admin.disconnect();
  });
});

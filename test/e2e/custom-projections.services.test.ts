import '#test/support/processes/with-services.ts';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { serviceUrl } from '#test/services/url.ts';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import { deploymentEnv } from '#test/support/processes/deployment.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';
import {
  contactNames,
  contactsNamed,
  deployProjection,
  openProjectionWorld,
  rowOfContact,
  rowsOnceAre,
  type ProjectionWorld,
} from '#test/support/worlds/custom-projection.ts';
import { brokersOf, openTestLog } from '#test/support/worlds/kafka-open.ts';
import { readAll } from '#test/support/worlds/log.ts';

let clickhouse: ClickHouseFront;
let opened: ProjectionWorld;
/** Both project into the same tables; the second one is killed. */
let nodes: readonly [RunningGateway, RunningGateway];
/** Of its topics and groups. */
let prefix: string;
beforeAll(async () => {
  clickhouse = await startClickHouseFront();
  opened = await openProjectionWorld({
    env: { SVC_CLICKHOUSE_URL: clickhouse.url },
    beside: [{}],
    connections: 4,
    contacts: contactsNamed('Ada', 40),
  });
  nodes = [opened.world.gateway, opened.world.beside[0]!];
  prefix = deploymentEnv(nodes[0].dataDir)['SVC_TOPIC_PREFIX']!;
});
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  await clickhouse[Symbol.asyncDispose]();
});

/** Names of the consumer groups of this projection. */
async function groups(): Promise<string[]> {
  const brokers = brokersOf(serviceUrl('kafka'));
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { groups: all } = await admin.listGroups();
    const names = all.map(({ groupId }) => groupId);
    return names.filter((name) => name.startsWith(`${prefix}.dev.contacts-`)).sort();
  } finally {
    await admin.disconnect();
  }
}

/** Each connection gets so many contacts. While partitions move a trigger may be answered 503. */
async function save(name: string, count: number): Promise<void> {
  const saves = opened.connections.map(async (crm) => {
    crm.account.contacts = contactsNamed(name, count);
    for (let isSaved = false; !isSaved;) {
      const runs = crm.webhooks('contacts').length;
      const trigger = () => crm.trigger('contacts');
      succeeded(await eventually(trigger, ({ status }) => status !== 503));
      isSaved = (await crm.webhook('contacts', runs + 1)).success;
    }
  });
  await Promise.all(saves);
}

/** All rows, those of different records, and those whose name begins so. */
const figuresOf = (start: string): string =>
  `SELECT toUInt32(count()), toUInt32(uniqExact(id, connection_id)), toUInt32(countIf(startsWith(name, '${start}'))) FROM contacts`;

const expectRows = async (node: RunningGateway, start: string, count: number): Promise<void> => {
  const expected = [[count, count, count]];
  expect(await rowsOnceAre(node, figuresOf(start), expected)).toEqual(expected);
};

const activeGeneration = async () => (await opened.generations()).active_generation;

describe('a projection of a project that two nodes share', () => {
  it('is filled, and has the same rows on both', async () => {
    await opened.deploy(rowOfContact());
    await expectRows(nodes[0], 'Ada', 160);
    await expectRows(nodes[1], 'Ada', 160);
    await opened.stateOnceIs('current');
  });

  it('follows changes and deletions', async () => {
    await save('Grace', 30);
    await expectRows(nodes[1], 'Grace', 120);
    await expectRows(nodes[0], 'Grace', 120);
  });

  it('is replaced by a changed mapping while records are written and a node is killed', async () => {
    let isOver = false;
    let rounds = 0;
    const writing = (async () => {
      for (; !isOver; rounds += 1) await save(`Round ${rounds}`, 31 + rounds);
    })();
    const loud = contactNames(rowOfContact('change.record.name.toUpperCase()'));
    succeeded(await deployProjection(nodes[1], 'contacts', loud));
    nodes[1].process.kill('SIGKILL');
    await eventually(activeGeneration, (active) => active === 2);
    isOver = true;
    await writing;
    const count = 4 * (30 + rounds);
    await expectRows(nodes[0], `ROUND ${rounds - 1}`, count);
    await opened.stateOnceIs('current');
  });

  it('does not hide rows by a mapping that fails', async () => {
    await opened.deploy("{ throw new Error('never'); }");
    await opened.stateOnceIs('held');
    expect(await activeGeneration()).toBe(2);
  });

  it('leaves no table, position, step of a migration or consumer group when it is deleted', async () => {
    expect(await groups()).toContain(`${prefix}.dev.contacts-projection-g2`);
    await opened.delete();
    await using store = await openClickHouseStore({ url: clickhouse.url });
    const left = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const source of ['system.tables', 'projector_positions', 'projection_migrations']) {
        const sql = `SELECT name FROM ${source} WHERE startsWith(name, 'custom_')`;
        const rows = await store.queryRows<{ name: string }>(sql);
        found.push(...rows.map(({ name }) => `${source}: ${name}`));
      }
      return found;
    };
    expect(await eventually(left, (found) => found.length === 0)).toEqual([]);
    const { accountKey: key } = nodes[0];
    expect((await nodes[0].call('GET', '/projections/dev.contacts', { key })).status).toBe(404);
    expect(await eventually(groups, (found) => found.length === 0)).toEqual([]);
  });

  it('is a tombstone on the topic of projections', async () => {
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix });
    const messages = await readAll(opened.log, 'svc.projections.v1');
    const last = messages.findLast(({ key }) => key === 'dev.contacts');
    expect(last).toMatchObject({ value: null, headers: { ce_type: 'svc.projection.forgotten' } });
  });

  it('is another one when it is deployed once more', async () => {
    await opened.deploy(rowOfContact());
    await opened.stateOnceIs('current');
    await expectRows(
      nodes[0],
      'Round',
      opened.connections.length * opened.crm.account.contacts.length,
    );
    expect(await activeGeneration()).toBe(1);
  });
});

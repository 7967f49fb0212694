import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messagesShown, type TypedMessage } from '#test/support/judges/typed-topic.ts';
import { openLogOf } from '#test/support/processes/deployment.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { readAll } from '#test/support/worlds/log.ts';

const topic = 'svc.cdc.dev.crm.contact.v1';
const heartbeatTopic = 'svc.cdc.dev.crm.contact.heartbeat';
const path = '/typed-topics/crm/Contact';
/** More than one batch of the records topic has. */
const contacts = Array.from({ length: 400 }, (_, n) => ({
  id: `c-${n}`,
  name: `${n} `.repeat(500),
}));

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const put = async (query: string) =>
  succeeded(await world.gateway.call('PUT', `${path}${query}`)) as {
    data: { heartbeat_s: number | null; snapshot: string | null };
  };

async function save(list: readonly { id: string; name: string }[]): Promise<void> {
  crm.account.contacts = [...list];
  expect(await crm.run('contacts')).toMatchObject({ success: true });
}

/** The topic exists a moment after the opt-in. */
const shown = () =>
  messagesShown(world.gateway, topic).catch(() => ({ partitions: 0, messages: [] }));

async function messages(fits: (all: readonly TypedMessage[]) => boolean): Promise<TypedMessage[]> {
  const found = await eventually(shown, (one) => fits(one.messages));
  return [...found.messages];
}

interface Heartbeat {
  readonly ts_ms: number;
  readonly topic: string;
  readonly records_offset: number;
}

interface PartitionShown {
  readonly key: string;
  readonly offset: number;
  readonly value: Heartbeat;
}

/** The latest messages of a partition. */
async function lastOf(name: string, partition: number): Promise<PartitionShown[]> {
  const query = `partition=${partition}&limit=500&offset=0`;
  const accountKey = { key: world.gateway.accountKey };
  const answer = await world.gateway.call('GET', `/topics/${name}/messages?${query}`, accountKey);
  return answer.status === 200 ? (answer.body as { data: PartitionShown[] }).data : [];
}

describe('a typed topic of records that do not change', () => {
  it('has heartbeats on each partition that name its progress', async () => {
    await save(contacts);
    expect(await put('?heartbeat_s=1')).toMatchObject({ data: { heartbeat_s: 1 } });
    const filled = await messages((all) => all.length >= contacts.length);
    const partitionOfContacts = filled[0]!.partition;
    const { partitions } = await shown();
    for (let partition = 0; partition < partitions; partition += 1) {
      const beats = await eventually(
        () => lastOf(heartbeatTopic, partition),
        (all) => all.length >= 2,
      );
      expect(new Set(beats.map(({ key }) => key))).toEqual(new Set([topic]));
      const times = beats.map(({ value }) => value.ts_ms);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    }
    const changes = await lastOf('svc.records.v1', partitionOfContacts);
    const end = Math.max(...changes.map(({ offset }) => offset));
    const last = (await lastOf(heartbeatTopic, partitionOfContacts)).at(-1)!;
    expect(last.value).toMatchObject({ topic });
    expect(last.value.records_offset).toBeGreaterThan(end);
  });

  it('goes on with changes between heartbeats, which are no messages of its own', async () => {
    const changed = contacts.map((one) => (one.id === 'c-7' ? { ...one, name: 'changed' } : one));
    await save(changed);
    const all = await messages((some) => some.length > contacts.length);
    expect(all).toHaveLength(contacts.length + 1);
    expect(all.at(-1)?.value).toMatchObject({ op: 'u', after: { name: 'changed' } });
  });

  it('keeps its heartbeats where they are not named, and ends them by 0', async () => {
    expect(await put('')).toMatchObject({ data: { heartbeat_s: 1 } });
    expect(await put('?heartbeat_s=0')).toMatchObject({ data: { heartbeat_s: null } });
    for (const wrong of ['-1', '1.5', '100000', 'often']) {
      const answer = await world.gateway.call('PUT', `${path}?heartbeat_s=${wrong}`);
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_query_params' } },
      });
    }
  });
});

const isIncremental = ({ value }: TypedMessage): boolean =>
  value?.source.snapshot === 'incremental';

describe('a gateway that is killed within a snapshot', () => {
  it('goes on with it after its start, and publishes each record once', async () => {
    await world.restart(undefined, { SVC_TEST_FAULT_POINT: 'typed-topics:within-snapshot@2' });
    await put('?snapshot=killed');
    await world.gateway.exited;
    expect(world.gateway.process.signalCode).toBe('SIGKILL');
    let published = 0;
    await world.restart(async (dataDir) => {
      await using opened = await openLogOf(dataDir);
      const ends = await opened.log.endOffsets(topic);
      for (let partition = 0; partition < ends.length; partition += 1)
        published += (await readAll(opened.log, topic, partition)).length;
    });
    const inSnapshot = published - contacts.length - 1;
    console.log(`killed after ${inSnapshot} of ${contacts.length} records of the snapshot`);
    expect(inSnapshot).toBeGreaterThan(0);
    expect(inSnapshot).toBeLessThan(contacts.length);
    const all = await messages((some) => some.filter(isIncremental).length >= contacts.length);
    const taken = all.filter(isIncremental);
    expect(taken).toHaveLength(contacts.length);
    expect(new Set(taken.map(({ key }) => key)).size).toBe(contacts.length);
    expect(taken.find(({ key }) => key.endsWith('/c-7'))?.value?.after).toMatchObject({
      name: 'changed',
    });
    await save(contacts.slice(0, 399));
    const later = await messages((some) => some.length > all.length + 2);
    expect(
      later
        .slice(all.length)
        .map(({ value }) => value?.op ?? 'tombstone')
        .toSorted(),
    ).toEqual(['d', 'tombstone', 'u']);
  });
});

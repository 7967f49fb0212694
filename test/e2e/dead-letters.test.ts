/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument, typescript/no-unsafe-call --
   a test looks into any answer */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

/** Who gives up what nobody can read, by topic. */
const consumers = {
  'svc.runs.v1': ['svc.runners', 'svc.sync-webhooks'],
  'svc.webhooks-out.v1': ['svc.webhook-deliveries'],
  'svc.webhooks-in.v1': ['svc.incoming-webhooks'],
  'svc.connections.v1': ['svc.lifecycle-hooks', 'svc.sync-instances'],
  'svc.credentials.v1': ['svc.auth-webhooks', 'svc.token-refreshes'],
  'svc.internal.commands.v1': ['svc.control-owners'],
  'svc.internal.record-commands.v1': ['svc.record-owners'],
} as const;
const givingUp = new Set<string>(Object.values(consumers).flat());
const poison = 'no schema fits this';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
  crm.account.contacts = [{ id: '1', name: 'Ada', email: 'a@example.com', updatedAt: 1 }];
  await crm.run('contacts');
  await world.restart(async (dataDir) => {
    await using embedded = await openEmbeddedLog({ directory: join(dataDir, 'log') });
    const messages = [{ key: 'poison', value: Buffer.from(poison), headers: { why: 'a test' } }];
    const topics = Object.keys(consumers);
    const partitions = [0, 1, 2, 3];
    await embedded.log.append(
      topics.flatMap((topic) => partitions.map((partition) => ({ topic, partition, messages }))),
    );
  });
});
afterAll(() => world[Symbol.asyncDispose]());

const call = (method: string, path: string, headers = {}): Promise<Answer> =>
  world.gateway.call(method, path, { key: world.gateway.accountKey, headers });
const list = async (query = '') => succeeded(await call('GET', `/dead-letters${query}`));
const wanted = Object.values(consumers).flat().length * 4;

describe('messages that nobody can read', () => {
  it('are set aside by each of their consumers, on every partition', async () => {
    const { data } = await eventually(list, (body) => body.data.length >= wanted);
    const found = data.map((letter: { consumer: string; topic: string; partition: number }) => {
      return `${letter.topic} ${letter.partition} ${letter.consumer}`;
    });
    const expected = Object.entries(consumers).flatMap(([topic, groups]) =>
      groups.flatMap((group) => [0, 1, 2, 3].map((partition) => `${topic} ${partition} ${group}`)),
    );
    expect(found.sort()).toEqual(expected.sort());
    for (const letter of data) {
      expect(letter).toMatchObject({ state: 'parked', key: 'poison', retries: 0 });
      expect(letter.attempts).toBeLessThanOrEqual(5);
    }
  });

  it('hold nothing back: saves, pages, runs and webhooks go on', async () => {
    crm.account.contacts = [{ id: '2', name: 'Grace', email: 'g@example.com', updatedAt: 2 }];
    const hook = await crm.run('contacts');
    expect(hook.success).toBe(true);
    expect((await crm.all('Contact')).map(({ id }) => id)).toContain('2');
    await eventually(
      async () => succeeded(await call('GET', '/consumer-groups')).data,
      (groups) =>
        groups
          .filter(({ name }: { name: string }) => givingUp.has(name))
          .every(({ lag }: { lag: number }) => lag === 0),
    );
  });

  it('are shown without their bytes', async () => {
    const [{ id }] = (await list('?consumer=svc.runners')).data;
    const { data } = succeeded(await call('GET', `/dead-letters/${id}`));
    expect(data.message).toEqual({
      key: 'poison',
      headers: { why: 'a test' },
      bytes: poison.length,
      value: null,
      unreadable: 'The value does not fit the schema of svc.runs.v1.',
    });
    expect(JSON.stringify(data)).not.toContain(poison);
  });

  it('are listed page by page, by consumer, topic and state', async () => {
    const first = await list('?limit=5');
    const second = await list(`?limit=${wanted}&cursor=${first.next_cursor}`);
    const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(wanted);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(second.next_cursor).toBeNull();
    expect((await list('?topic=svc.runs.v1&state=parked')).data).toHaveLength(8);
    expect((await list('?state=dropped')).data).toEqual([]);
    const bad = await call('GET', '/dead-letters?cursor=abc');
    expect(bad).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor_value' } } });
  });

  it.each(Object.values(consumers).flat())(
    'are tried again by %s, and set aside again with their cause',
    async (consumer) => {
      const [{ id, attempts }] = (await list(`?consumer=${consumer}&state=parked`)).data;
      succeeded(await call('POST', `/dead-letters/${id}/retry`));
      const { data } = await eventually(
        async () => succeeded(await call('GET', `/dead-letters/${id}`)),
        (body) => body.data.state !== 'retrying',
      );
      expect(data).toMatchObject({ id, state: 'parked', retries: 1 });
      expect(data.attempts).toBeGreaterThan(attempts);
      expect(data.error.code).toBe('log_corrupt');
      expect((await list()).data).toHaveLength(wanted);
    },
  );

  it('are dropped, once and for all', async () => {
    const [{ id }] = (await list('?consumer=svc.sync-instances&state=parked')).data;
    succeeded(await call('DELETE', `/dead-letters/${id}`));
    expect((await list('?state=dropped')).data).toMatchObject([{ id, state: 'dropped' }]);
    succeeded(await call('DELETE', `/dead-letters/${id}`));
    const again = await call('POST', `/dead-letters/${id}/retry`);
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    await world.restart();
    expect((await list('?state=dropped')).data).toMatchObject([{ id }]);
  });

  it('that are none answer 404, and keys of an environment 403', async () => {
    const unknown = `/dead-letters/${crypto.randomUUID()}`;
    expect(await call('GET', unknown)).toMatchObject({ status: 404 });
    expect(await call('POST', `${unknown}/retry`)).toMatchObject({ status: 404 });
    expect(await call('GET', '/dead-letters/17')).toMatchObject({ status: 400 });
    expect(await world.gateway.call('GET', '/dead-letters')).toMatchObject({ status: 403 });
  });
});

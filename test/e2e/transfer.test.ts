/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-call --
   a test looks into any answer */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundsOf, someOf } from '#test/support/judges/long-run.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import {
  expectMore,
  expectSame,
  figures,
  rebuildRound,
} from '#test/support/judges/rebuild-rounds.ts';
import type { ToldRound } from '#test/support/processes/rebuild-child.ts';
import { transfer, type Transferred } from '#test/support/processes/transfer.ts';
import { eventually, openCrmWorld, succeeded } from '#test/support/worlds/crm-world.ts';

const seed = seedOfRun();
console.log(`transfer test: SVC_TEST_SEED=${seed}`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-transfer-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

const modes = someOf(['compacted', 'whole'] as const, roundsOf({ push: 1, all: 2 }), seed);

describe.each(modes)('a log that was exported: %s', (mode) => {
  const of = (name: string): string => at(`${mode}/${name}`);
  let before: ToldRound;
  let exported: Transferred;
  beforeAll(async () => {
    before = await rebuildRound(of('a'), { seed, number: 1, calls: 120 }, mode);
    exported = await transfer('export', of('files'), of('a'));
    console.log(`${exported.messages} messages, ${figures(before.left)}`);
  });

  it('has the same pages and cursors in another, and goes on counting', async () => {
    expect(await transfer('import', of('files'), of('b'))).toMatchObject({
      topics: exported.topics,
      messages: exported.messages,
    });
    await cp(of('a/root.key'), of('b/root.key'));
    await cp(of('a/told.json'), of('b/told.json'));
    const after = await rebuildRound(of('b'), { seed, number: 2, calls: 15 }, mode);
    expectSame(after, before);
    // What compaction has taken leaves holes in the history, not in the pages.
    if (mode === 'whole') expectMore(after);
  });

  it('is refused where something is, where something is missing, and where a byte is wrong', async () => {
    const importing = (name: string, env = {}) => transfer('import', of('files'), of(name), env);
    await expect(transfer('export', of('files'), of('a'))).rejects.toThrow('is not empty');
    await expect(importing('a')).rejects.toThrow('already contains messages');
    await expect(importing('c', { SVC_PARTITIONS: '6' })).rejects.toThrow('Set SVC_PARTITIONS');
    await expect(transfer('import', of('nothing'), of('c'))).rejects.toThrow('is no export');
    const file = join(of('files'), 'svc.internal.control.v1', '1.log');
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, -1));
    await expect(importing('d')).rejects.toThrow('svc.internal.control.v1/1.log is corrupt');
    bytes[bytes.length - 20]! ^= 1;
    await writeFile(file, bytes);
    await expect(importing('e')).rejects.toThrow('svc.internal.control.v1/1.log is corrupt');
  });
});

/** The log of a stopped gateway in another: the folder, and the settings that it needs. */
const ways = {
  'exported and imported': {
    env: {},
    copy: async (dataDir: string) => {
      await transfer('export', at('files'), dataDir);
      // The root key travels apart.
      await cp(join(dataDir, 'root.key'), at('root.key'));
      await rm(dataDir, { recursive: true });
      await transfer('import', at('files'), dataDir);
      await cp(at('root.key'), join(dataDir, 'root.key'));
    },
  },
  'given more partitions': {
    env: { SVC_PARTITIONS: '12' },
    copy: async (dataDir: string) => {
      expect(await transfer('repartition', '12', dataDir)).toMatchObject({ from: 4, to: 12 });
    },
  },
};

describe.each(Object.entries(ways))('a gateway whose log was %s', (_, { copy, env }) => {
  it('sends no webhook and runs no function again, and all goes on where it was', async () => {
    await using world = await openCrmWorld();
    const crm = await world.connect();
    const taken = ['svc.runners', 'svc.sync-webhooks', 'svc.webhook-deliveries'];
    const allTaken = () =>
      eventually(
        async () =>
          succeeded(
            await world.gateway.call('GET', '/consumer-groups', { key: world.gateway.accountKey }),
          ).data,
        (groups) =>
          groups.every(({ name, lag }: { name: string; lag: number }) =>
            taken.includes(name) ? lag === 0 : true,
          ),
      );
    crm.account.contacts = Array.from({ length: 25 }, (_, n) => ({ id: `c${n}`, name: `${n}` }));
    await crm.run('contacts');
    const subscription = (method: string, path = '', body?: object) =>
      world.gateway.call(
        method,
        `/subscriptions/warehouse${path}`,
        body === undefined ? {} : { body },
      );
    succeeded(await subscription('PUT', '', {}));
    const consumed = succeeded(await subscription('GET', '/changes?limit=7'));
    const { place } = consumed.changes[0] as { place: string };
    succeeded(await subscription('POST', '/parked', { place, reason: 'kept' }));
    succeeded(await subscription('POST', '/commit', { cursor: consumed.cursor }));
    const left = async () => {
      const { changes } = succeeded(await subscription('GET', '/changes'));
      return (changes as { id: string }[]).map(({ id }) => id).sort();
    };
    const parked = async () =>
      succeeded(await subscription('GET', '/parked')).data.map(
        (one: { change: { id: string } }) => one.change.id,
      );
    const kept = { left: await left(), parked: await parked() };
    expect(kept.left).toHaveLength(18);
    const queued = await crm.action('echo', { kept: 1 }, { 'x-async': 'true' });
    const text = async (query: string) => {
      const { url, key } = world.gateway;
      const headers = { authorization: `Bearer ${key}`, ...crm.headers };
      return (await fetch(`${url}/records?model=Contact&limit=7${query}`, { headers })).text();
    };
    const first = await text('');
    const { next_cursor: cursor } = JSON.parse(first) as { next_cursor: string };
    const second = await text(`&cursor=${encodeURIComponent(cursor)}`);
    await crm.action('echo', { kept: 2 });
    await allTaken();
    const before = { hooks: world.receiver.received.length, calls: crm.account.asked.length };

    const result = async () => {
      const { statusUrl } = queued.body as { statusUrl: string };
      return (await world.gateway.call('GET', statusUrl)).body as unknown;
    };
    const output = await eventually(result, (body) => JSON.stringify(body).includes('kept'));
    await world.restart(copy, env);
    expect(await result()).toEqual(output);
    expect(queued.status).toBe(202);
    expect(first).toBe(await text(''));
    expect(second).toBe(await text(`&cursor=${encodeURIComponent(cursor)}`));
    expect({ left: await left(), parked: await parked() }).toEqual(kept);
    const late = await subscription('POST', '/commit', { cursor: consumed.cursor });
    expect(late).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor_value' } } });
    await allTaken();
    expect({ hooks: world.receiver.received.length, calls: crm.account.asked.length }).toEqual(
      before,
    );
    crm.account.contacts = [{ id: 'new', name: 'new' }];
    await crm.run('contacts');
    expect((await crm.all('Contact')).map(({ id }) => id)).toContain('new');
  });
});

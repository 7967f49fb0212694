/* eslint-disable @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-call --
   a test looks into any answer */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, openCrmWorld, succeeded } from '../support/crm-world.ts';
import { seedOfRun } from '../support/random.ts';
import { expectMore, expectSame, figures, rebuildRound } from '../support/rebuild-rounds.ts';
import { transfer } from '../support/transfer.ts';

const seed = seedOfRun();
console.log(`transfer test: SVC_TEST_SEED=${seed}`);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-transfer-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

describe('a log that was exported and imported into another', () => {
  it.each(['whole', 'compacted'] as const)(
    'has the same pages and cursors, and goes on counting: %s',
    async (mode) => {
      const before = await rebuildRound(at('a'), { seed, number: 1, calls: 120 }, mode);
      const exported = await transfer('export', at('files'), at('a'));
      expect(await transfer('import', at('files'), at('b'))).toMatchObject({
        topics: exported.topics,
        messages: exported.messages,
      });
      await cp(at('a/root.key'), at('b/root.key'));
      await cp(at('a/told.json'), at('b/told.json'));
      const after = await rebuildRound(at('b'), { seed, number: 2, calls: 15 }, mode);
      expectSame(after, before);
      // What compaction has taken leaves holes in the history, not in the pages.
      if (mode === 'whole') expectMore(after);
      console.log(`${exported.messages} messages, ${figures(before.left)}`);
    },
  );

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

    await world.restart(async (dataDir) => {
      await transfer('export', at('files'), dataDir);
      // The root key travels apart.
      await cp(join(dataDir, 'root.key'), at('root.key'));
      await rm(dataDir, { recursive: true });
      await transfer('import', at('files'), dataDir);
      await cp(at('root.key'), join(dataDir, 'root.key'));
    });
    expect(queued.status).toBe(202);
    expect(first).toBe(await text(''));
    expect(second).toBe(await text(`&cursor=${encodeURIComponent(cursor)}`));
    await allTaken();
    expect({ hooks: world.receiver.received.length, calls: crm.account.asked.length }).toEqual(
      before,
    );
    crm.account.contacts = [{ id: 'new', name: 'new' }];
    await crm.run('contacts');
    expect((await crm.all('Contact')).map(({ id }) => id)).toContain('new');
  });

  it('is refused where something is, where something is missing, and where a byte is wrong', async () => {
    await rebuildRound(at('a'), { seed, number: 1, calls: 5 });
    await transfer('export', at('files'), at('a'));
    const importing = (dataDir: string, env = {}) => transfer('import', at('files'), dataDir, env);
    await expect(transfer('export', at('files'), at('a'))).rejects.toThrow('is not empty');
    await expect(importing(at('a'))).rejects.toThrow('holds messages already');
    await expect(importing(at('b'), { SVC_PARTITIONS: '8' })).rejects.toThrow('set SVC_PARTITIONS');
    await expect(transfer('import', at('nothing'), at('b'))).rejects.toThrow('is no export');
    const file = join(at('files'), 'svc.internal.control.v1', '1.log');
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, -1));
    await expect(importing(at('c'))).rejects.toThrow('svc.internal.control.v1/1.log is damaged');
    bytes[bytes.length - 20]! ^= 1;
    await writeFile(file, bytes);
    await expect(importing(at('d'))).rejects.toThrow('svc.internal.control.v1/1.log is damaged');
  });
});

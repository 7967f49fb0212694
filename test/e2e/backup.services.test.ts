import '#test/support/processes/with-services.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectPrefix, savesUnder } from '#test/support/judges/backups.ts';
import { deploymentEnv } from '#test/support/processes/deployment.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

let folder: string;
let world: CrmWorld;
const connections: CrmConnection[] = [];
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-backup-'));
  world = await openCrmWorld({ beside: [{}] });
  for (const mode of ['plain', 'sealed']) {
    const path = `/environments/${world.environmentId}`;
    const body = { payload_mode: mode };
    succeeded(await world.gateway.call('PATCH', path, { key: world.gateway.accountKey, body }));
    const crm = await world.connect();
    connections.push(crm);
    // Each backup has records, however early it is.
    crm.account.contacts = [{ id: 'first', name: 'first' }];
    await crm.run('contacts');
  }
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const backUp = (files: string) => {
  const { dataDir } = world.gateway;
  return transfer('backup', at(files), dataDir, deploymentEnv(dataDir));
};

/** The text of every page of 7 of a connection. */
async function pagesOf(crm: CrmConnection): Promise<string[]> {
  const { url, key } = world.gateway;
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = new URLSearchParams({ model: 'Contact', limit: '7', ...(cursor && { cursor }) });
    const headers = { authorization: `Bearer ${key}`, ...crm.headers };
    const answer = await fetch(`${url}/records?${query.toString()}`, { headers });
    const text = await answer.text();
    pages.push(text);
    cursor = (JSON.parse(text) as { next_cursor?: string | null }).next_cursor ?? null;
  }
  return pages;
}

async function expectRefused({ headers }: CrmConnection, cursor: string): Promise<void> {
  const path = `/records?model=Contact&cursor=${encodeURIComponent(cursor)}`;
  expect(await world.gateway.call('GET', path, { headers })).toMatchObject({
    status: 400,
    body: { error: { code: 'invalid_cursor_value' } },
  });
}

const served = () => Promise.all(connections.map((crm) => pagesOf(crm)));

it('a log in Kafka is backed up as of one moment, while two processes write', async () => {
  const backups: string[] = [];
  await savesUnder(connections, async () => {
    for (let n = 0; n < 2; n += 1) backups.push((await backUp('busy')).id);
  });
  for (const id of backups) {
    await transfer('restore', [at('busy'), id], at(id), deploymentEnv(at(id)));
    await expectPrefix(at(id), world.gateway.dataDir);
  }
});

it('it is restored as of a time to other topics, with the same pages and cursors', async () => {
  const first = await backUp('backups');
  const before = await served();
  for (const { account } of connections) account.contacts = [{ id: 'late', name: 'late' }];
  await Promise.all(connections.map((crm) => crm.run('contacts')));
  const [crm] = connections as [CrmConnection];
  const lost = (await crm.all('Contact')).at(-1)!._svc_metadata.cursor;
  const second = await backUp('backups');
  expect(second.messages).toBeLessThan(first.messages);
  const other = `${deploymentEnv(world.gateway.dataDir)['SVC_TOPIC_PREFIX']}-restored`;
  for (const one of world.beside) await one.stop();
  await world.restart(
    async (dataDir) => {
      await rm(dataDir, { recursive: true });
      const env = { ...deploymentEnv(dataDir), SVC_TOPIC_PREFIX: other };
      await transfer('restore', [at('backups'), first.made_at], dataDir, env);
    },
    { SVC_TOPIC_PREFIX: other },
  );
  const pages = await eventually(served, (found) => found.flat().length === before.flat().length);
  expect(pages).toEqual(before);
  await expectRefused(crm, lost);
  await crm.run('contacts');
  const found = await crm.all('Contact');
  expect(found.map(({ id }) => id)).toContain('late');
  await expectRefused(crm, lost);
  expect(await crm.all('Contact', found.at(-1)!._svc_metadata.cursor)).toEqual([]);
});

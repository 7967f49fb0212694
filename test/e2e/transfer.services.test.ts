import '#test/support/processes/with-services.ts';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deploymentEnv, prefixVariable } from '#test/support/processes/deployment.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import {
  eventually,
  openCrmWorld,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const prefix = process.env[prefixVariable];
const env = { SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') };
const contacts = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, name: `${n}` }));

let files: string;
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), 'svc-transfer-'));
  // The first gateway keeps its log in its folder.
  Reflect.deleteProperty(process.env, prefixVariable);
  world = await openCrmWorld({ env });
  process.env[prefixVariable] = prefix;
  crm = await world.connect();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(files, { recursive: true, force: true });
});

/** The text of a page of 7. */
async function page(cursor = ''): Promise<string> {
  const { url, key } = world.gateway;
  const query = new URLSearchParams({ model: 'Contact', limit: '7', ...(cursor && { cursor }) });
  const headers = { authorization: `Bearer ${key}`, ...crm.headers };
  return (await fetch(`${url}/records?${query.toString()}`, { headers })).text();
}

async function pages(): Promise<string[]> {
  const found = [await page()];
  for (;;) {
    const { next_cursor: cursor } = JSON.parse(found.at(-1)!) as { next_cursor: string | null };
    if (cursor === null) return found;
    found.push(await page(cursor));
  }
}

it('an embedded log that is imported into Kafka has the same pages and cursors, and goes on', async () => {
  crm.account.contacts = contacts(30);
  await crm.run('contacts');
  crm.account.contacts = contacts(25);
  await crm.run('contacts');
  const before = await pages();
  const end = (await crm.all('Contact')).at(-1)!._svc_metadata.cursor;
  const hooks = world.receiver.received.length;

  await world.restart(async (dataDir) => {
    const { topics, messages } = await transfer('export', join(files, 'log'), dataDir);
    await rm(dataDir, { recursive: true });
    const kafka = { ...deploymentEnv(dataDir), ...env };
    const imported = await transfer('import', join(files, 'log'), dataDir, kafka);
    expect(imported).toMatchObject({ topics, messages });
  });
  expect(await eventually(pages, (found) => found.length === before.length)).toEqual(before);
  expect(await crm.records('Contact', { cursor: end })).toEqual({ records: [], next_cursor: null });

  crm.account.contacts.push({ id: 'c-new', name: 'new' });
  expect(await crm.run('contacts')).toMatchObject({ responseResults: { added: 1, updated: 0 } });
  expect((await crm.all('Contact', end)).map(({ id }) => id)).toEqual(['c-new']);
  const told = world.receiver.received.slice(hooks).map(({ body }) => JSON.parse(body) as object);
  expect(told).toHaveLength(1);
  expect(told[0]).toMatchObject({ responseResults: { added: 1 } });
});

it('a log in Kafka that is copied to more partitions has them too, and is copied once', async () => {
  const before = await pages();
  const end = (await crm.all('Contact')).at(-1)!._svc_metadata.cursor;
  const hooks = world.receiver.received.length;
  const { dataDir } = world.gateway;
  const former: Record<string, string> = { ...deploymentEnv(dataDir), ...env };
  const of = (name: string) => `${former['SVC_TOPIC_PREFIX']}-${name}`;
  const grow = (to: string, more = {}) =>
    transfer('repartition', ['8', to], dataDir, { ...former, ...more });
  const grown = { SVC_TOPIC_PREFIX: of('b'), SVC_PARTITIONS: '8' };

  await world.restart(async () => {
    const killed = { SVC_TEST_FAULT_POINT: 'repartition:copying@30' };
    await expect(grow(of('a'), killed)).rejects.toThrow();
    await expect(grow(of('a'))).rejects.toThrow('already contains messages');
    await expect(grow(former['SVC_TOPIC_PREFIX']!)).rejects.toThrow('another one than');
    expect(await grow(of('b'))).toMatchObject({ from: 4, to: 8 });
    expect(await grow(of('b'))).toMatchObject({ from: 4, to: 8, messages: null });
    await rm(dataDir, { recursive: true });
  }, grown);
  expect(await eventually(pages, (found) => found.length === before.length)).toEqual(before);
  expect(await crm.records('Contact', { cursor: end })).toEqual({ records: [], next_cursor: null });

  crm.account.contacts.push({ id: 'c-newer', name: 'newer' });
  expect(await crm.run('contacts')).toMatchObject({ responseResults: { added: 1, updated: 0 } });
  expect((await crm.all('Contact', end)).map(({ id }) => id)).toEqual(['c-newer']);
  expect(world.receiver.received).toHaveLength(hooks + 1);
});

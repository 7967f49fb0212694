import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeovers } from '#test/support/judges/takeovers.ts';
import {
  eventually,
  openCrmWorld,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const records = 40;
const contacts = (version: number) =>
  Array.from({ length: records }, (_, n) => ({ id: `c-${n}`, name: `version ${version}` }));

let folder: string;
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-snapshots-'));
  world = await openCrmWorld({ env: { SVC_SNAPSHOT_DIR: folder, SVC_LOG_LEVEL: 'info' } });
  crm = await world.connect();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function snapshots(): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith('.db')).map((name) => join(folder, name));
}

/** The way in which the records came back, and how many changes were read, after a start without state stores. */
async function restoredWithoutStores(): Promise<{ from: string; read: number }> {
  await world.restart((dataDir) => rm(join(dataDir, 'state', 'records'), { recursive: true }));
  // The first barrier is answered when the partition was taken over.
  expect(await crm.run('contacts')).toMatchObject({
    responseResults: { added: 0, updated: 0, deleted: 0 },
  });
  const changed = takeovers(world.gateway).filter(
    ({ read, from }) => from === 'snapshot' || read > 0,
  );
  expect(changed).toHaveLength(1);
  return changed[0]!;
}

describe('a gateway whose state stores are gone', () => {
  it('goes on from the snapshot and the rest of the log', async () => {
    crm.account.contacts = contacts(1);
    await crm.run('contacts');
    await eventually(snapshots, (found) => found.length > 0);
    crm.account.contacts = contacts(2);
    await crm.run('contacts');
    const before = await crm.all('Contact');
    expect(await restoredWithoutStores()).toMatchObject({ from: 'snapshot', read: records });
    expect(await crm.all('Contact')).toEqual(before);
  });

  it('reads the log alone where the snapshot is damaged', async () => {
    const before = await crm.all('Contact');
    for (const file of await snapshots()) {
      const bytes = await readFile(file);
      await writeFile(file, bytes.fill(0, bytes.length / 4, (bytes.length * 3) / 4));
    }
    expect(await restoredWithoutStores()).toMatchObject({ from: 'log alone', read: 2 * records });
    expect(await crm.all('Contact')).toEqual(before);
    crm.account.contacts = contacts(3);
    expect(await crm.run('contacts')).toMatchObject({ responseResults: { updated: records } });
  });
});

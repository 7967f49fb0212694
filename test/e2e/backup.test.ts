/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment --
   a test looks into any answer */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectPrefix, savesUnder } from '#test/support/judges/backups.ts';
import { daysLater } from '#test/support/processes/days-later.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

let folder: string;
let world: CrmWorld;
const connections: CrmConnection[] = [];
const at = (name: string): string => join(folder, name);

const contacts = (from: number, to: number, name: string) =>
  Array.from({ length: to - from }, (_, n) => ({ id: `c-${from + n}`, name }));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-backup-'));
  world = await openCrmWorld();
  for (const mode of ['plain', 'sealed']) {
    const path = `/environments/${world.environmentId}`;
    const body = { payload_mode: mode };
    succeeded(await world.gateway.call('PATCH', path, { key: world.gateway.accountKey, body }));
    connections.push(await world.connect({ metadata: { mode } }));
  }
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The text of every page of 7, from the start or the cursor on. */
async function pagesOf(crm: CrmConnection, from = ''): Promise<string[]> {
  const { url, key } = world.gateway;
  const pages: string[] = [];
  for (let cursor: string | null = from; cursor !== null;) {
    const query = new URLSearchParams({ model: 'Contact', limit: '7', ...(cursor && { cursor }) });
    const headers = { authorization: `Bearer ${key}`, ...crm.headers };
    const answer = await fetch(`${url}/records?${query.toString()}`, { headers });
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    pages.push(text);
    cursor = (JSON.parse(text) as { next_cursor: string | null }).next_cursor;
  }
  return pages;
}

async function served() {
  const shown = connections.map(async (crm) => {
    const { last_fetched_at: _, ...connection } = (await crm.shown()) as Record<string, unknown>;
    return { connection, pages: await pagesOf(crm) };
  });
  return Promise.all(shown);
}

const runAll = () => Promise.all(connections.map((crm) => crm.run('contacts')));

/** The gateway over a new data folder with the backup, and the root key, which travels apart. */
const restoreTo = (time: string, backups = 'backups', env = {}) =>
  world.restart(async (dataDir) => {
    await cp(join(dataDir, 'root.key'), at('root.key'));
    await rm(dataDir, { recursive: true });
    await transfer('restore', [at(backups), time], dataDir);
    await cp(at('root.key'), join(dataDir, 'root.key'));
  }, env);

type Backup = Awaited<ReturnType<typeof transfer>>;
type Served = Awaited<ReturnType<typeof served>>;
const taken: { backup: Backup; served: Served }[] = [];
/** Of a record and of the feed of changes, issued after the last backup. */
const lost = { record: '', feed: '' };

async function expectLostRefused(): Promise<void> {
  const { headers } = connections[0]!;
  const contact = `model=Contact&cursor=${encodeURIComponent(lost.record)}`;
  const body = { model: 'Contact', until_cursor: lost.record };
  const calls = [
    world.gateway.call('GET', `/records?${contact}`, { headers }),
    world.gateway.call('GET', `/records?${contact.replace('cursor', 'as_of')}`, { headers }),
    world.gateway.call('GET', `/records/stream?${contact}`, { headers }),
    world.gateway.call('PATCH', '/records/prune', { headers, body }),
    world.gateway.call('GET', `/changes?cursor=${lost.feed}`),
  ];
  for (const { status, body: answer } of await Promise.all(calls)) {
    expect([status, answer?.error?.code], JSON.stringify(answer)).toEqual([
      400,
      'invalid_cursor_value',
    ]);
  }
}

async function takeBackup() {
  const backup = await transfer('backup', at('backups'), world.gateway.dataDir);
  taken.push({ backup, served: await served() });
  return backup;
}

describe('backups of a running gateway', () => {
  it('add what is new to the folder', async () => {
    for (const { account } of connections) account.contacts = contacts(0, 40, 'first');
    await runAll();
    const first = await takeBackup();
    const files = await readdir(at('backups/data'));
    const bytes = await readFile(at(`backups/data/${files[0]}`));
    for (const { account } of connections) {
      account.contacts = [...contacts(5, 20, 'second'), ...contacts(20, 45, 'first')];
    }
    await runAll();
    const second = await takeBackup();
    expect(second.messages).toBeLessThan(first.messages);
    expect(await readFile(at(`backups/data/${files[0]}`))).toEqual(bytes);
    const { account } = connections[0]!;
    const { contacts: kept } = account;
    account.contacts = contacts(0, 60, 'lost');
    await connections[0]!.run('contacts');
    account.contacts = kept;
    lost.record = (await connections[0]!.all('Contact')).at(-1)!._svc_metadata.cursor;
    lost.feed = succeeded(await world.gateway.call('GET', '/changes?from=end')).cursor;
    const path = `/connections/${connections[1]!.id}?provider_config_key=crm`;
    succeeded(await world.gateway.call('DELETE', path));
    expect(await transfer('verify', at('backups'), '')).toMatchObject({
      backups: [
        { id: first.id, previous: null },
        { id: second.id, previous: first.id },
      ],
    });
  });

  it('are restored as of a time: the same pages, cursors and connections, byte for byte', async () => {
    const [first, second] = taken;
    // Just before the second, by time: the first; then the second by its id.
    const before = new Date(Date.parse(second!.backup.made_at) - 1).toISOString();
    await restoreTo(before);
    expect(await served()).toEqual(first!.served);
    await expectLostRefused();
    await restoreTo(second!.backup.id);
    expect(await served()).toEqual(second!.served);
    await expectLostRefused();
  });

  it('go on: cursors from before, saves, runs and backups', async () => {
    const [crm, sealed] = connections as [CrmConnection, CrmConnection];
    const last = taken
      .at(-1)!
      .served.map(({ pages }) =>
        (JSON.parse(pages.at(-1)!).records as { _svc_metadata: { cursor: string } }[]).at(-1)!,
      );
    for (const { account } of connections) account.contacts.push({ id: 'new', name: 'new' });
    await runAll();
    for (const [n, one] of [crm, sealed].entries()) {
      const after = await one.all('Contact', last[n]!._svc_metadata.cursor);
      expect(after.map(({ id }) => id)).toEqual(['new']);
    }
    // The positions of what is lost belong to other changes now.
    for (const { account } of connections) account.contacts = contacts(0, 60, 'after');
    await runAll();
    await expectLostRefused();
  });

  it('are taken of a restored log in another folder, which keeps what is lost, by any clock', async () => {
    const { dataDir } = world.gateway;
    await expect(transfer('backup', at('backups'), dataDir)).rejects.toThrow('of another log');
    const { id } = await transfer('backup', at('others'), dataDir);
    const before = await served();
    await restoreTo(id, 'others', daysLater(-1 / 24));
    expect(await served()).toEqual(before);
    await expectLostRefused();
    // The clock of the service is behind that of the restore: its changes are later all the same.
    const [crm] = connections as [CrmConnection];
    crm.account.contacts = contacts(0, 3, 'by another clock');
    await crm.run('contacts');
    const { cursor } = (await crm.all('Contact')).at(-1)!._svc_metadata;
    expect(await crm.all('Contact', cursor)).toEqual([]);
  });

  it('are of one moment, while records are saved', async () => {
    const { dataDir } = world.gateway;
    const backups: Backup[] = [];
    await savesUnder(connections, async () => {
      for (let n = 0; n < 3; n += 1) backups.push(await transfer('backup', at('busy'), dataDir));
    });
    await world.gateway.stop();
    for (const { id } of backups) {
      await transfer('restore', [at('busy'), id], at(id));
      await expectPrefix(at(id), dataDir);
    }
    await world.restart();
  });

  it('are refused where there is a log, where there is none, and for another folder', async () => {
    const restore = (time: string, to: string) =>
      transfer('restore', [at('backups'), time], at(to));
    await expect(restore('2020-01-01T00:00:00Z', 'new')).rejects.toThrow('the first backup of');
    await expect(restore('someday', 'new')).rejects.toThrow('no backup with this id');
    await expect(transfer('restore', at('backups'), world.gateway.dataDir)).rejects.toThrow(
      'already contains a log',
    );
    await expect(transfer('restore', at('nothing'), at('new'))).rejects.toThrow('has no backup');
    await expect(transfer('backup', at('more'), at('nothing'))).rejects.toThrow('has no event log');
    await writeFile(at('others/notes.txt'), '');
    await rm(at('others/backups.json'));
    const { dataDir } = world.gateway;
    await expect(transfer('backup', at('others'), dataDir)).rejects.toThrow('backups.json');
    await expect(transfer('backup', dataDir, dataDir)).rejects.toThrow('holds other files');
  });
});

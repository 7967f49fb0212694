import { createHash } from 'node:crypto';
import { cp, lstat, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import { openSmallDisk } from '#test/support/processes/small-disk.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
  type Page,
} from '#test/support/worlds/crm-world.ts';

const readOnly = { SVC_READ_ONLY: 'yes' };
const contacts = Array.from({ length: 300 }, (_, n) => ({ id: `c-${n}`, name: `Contact ${n}` }));

let folder: string;
let world: CrmWorld;
/** Data folders as a gateway left them that was killed, and that has stopped. */
let killed: string;
let stopped: string;
let plain: CrmConnection;
let sealed: CrmConnection;
let expected: readonly Page['records'][];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-read-only-test-'));
  [killed, stopped] = [join(folder, 'killed'), join(folder, 'stopped')];
  world = await openCrmWorld();
  plain = await filled();
  const path = `/environments/${world.environmentId}`;
  const body = { payload_mode: 'sealed' };
  succeeded(await world.gateway.call('PATCH', path, { key: world.gateway.accountKey, body }));
  sealed = await filled();
  expected = [await plain.all('Contact'), await sealed.all('Contact')];
  expect(expected.map(({ length }) => length)).toEqual([300, 300]);
  const copyTo = (target: string) => (dataDir: string) =>
    cp(dataDir, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  world.gateway.process.kill('SIGKILL');
  await world.restart(copyTo(killed));
  await world.restart(copyTo(stopped));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function filled(): Promise<CrmConnection> {
  const crm = await world.connect();
  crm.account.contacts = contacts;
  await crm.run('contacts');
  return crm;
}

/** Of every entry below the folder, and of the folder: mode, time of the last change, and contents. */
async function stateOf(top: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of ['', ...(await readdir(top, { recursive: true })).sort()]) {
    const path = join(top, name);
    const { mode, mtimeNs, ctimeNs, ...entry } = await lstat(path, { bigint: true });
    void entry;
    const stats = await lstat(path);
    const contents = stats.isSymbolicLink()
      ? await readlink(path)
      : stats.isFile()
        ? createHash('sha256')
            .update(await readFile(path))
            .digest('hex')
        : '';
    found[name] = [mode, mtimeNs, ctimeNs, contents].join(' ');
  }
  return found;
}

/** Runs a command where the folder is mounted read-only. */
const mountedReadOnly = (dataDir: string): readonly string[] => [
  'unshare',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
  dataDir,
];

async function pagesOf(gateway: RunningGateway): Promise<readonly Page['records'][]> {
  const pages = [plain, sealed].map(async ({ headers }) => {
    const records: Page['records'] = [];
    for (let cursor: string | null = null; ;) {
      const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const answer = await gateway.call('GET', `/records?model=Contact${more}`, { headers });
      const page = succeeded(answer) as Page;
      records.push(...page.records);
      if (page.next_cursor === null) return records;
      cursor = page.next_cursor;
    }
  });
  return Promise.all(pages);
}

describe('a gateway that only reads', () => {
  it.each([
    ['was killed', () => killed, true],
    ['has stopped', () => stopped, true],
    ['was killed, and which could be written to', () => killed, false],
  ])(
    'serves a folder mounted read-only, as a gateway left it that %s, and changes nothing in it',
    async (_what, folderOf, isMounted) => {
      const dataDir = folderOf();
      const before = await stateOf(dataDir);
      const temporary = await mkdtemp(join(folder, 'tmp-'));
      const settings = { ...readOnly, TMPDIR: temporary };
      const within = isMounted ? mountedReadOnly(dataDir) : [];
      const gateway = await world.startOn(dataDir, settings, within);
      try {
        expect(await pagesOf(gateway)).toEqual(expected);
        const refused = await gateway.call('POST', '/connect/sessions', { body: {} });
        expect(refused.status).toBe(503);
      } finally {
        await gateway.stop();
      }
      expect(await stateOf(dataDir)).toEqual(before);
      const left = await readdir(temporary);
      expect(left.filter((name) => name.startsWith('svc-read-only-'))).toEqual([]);
    },
  );

  it('shares the folder with others that only read, and with none that writes', async () => {
    await using first = await world.startOn(killed, readOnly);
    await using second = await world.startOn(killed, readOnly);
    expect(await pagesOf(first)).toEqual(await pagesOf(second));
    await expect(world.startOn(killed)).rejects.toThrow(/in use by another process/);
    const { dataDir } = world.gateway;
    await expect(world.startOn(dataDir, readOnly)).rejects.toThrow(/in use by another process/);
  });

  it('names the folder for its copies where that has no room', async () => {
    await using disk = await openSmallDisk(1);
    const before = await stateOf(killed);
    const settings = { ...readOnly, TMPDIR: disk.folder };
    await expect(world.startOn(killed, settings, disk.within)).rejects.toThrow(
      /SVC_READ_ONLY: \S+ has no room for a private copy of the data folder \(log \d+ MiB, views \d+ MiB, clickhouse \d+ MiB\)\. Set TMPDIR/,
    );
    expect(await stateOf(killed)).toEqual(before);
  });
});

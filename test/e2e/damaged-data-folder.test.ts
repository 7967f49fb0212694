import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { acceptLoss, failedStart } from '#test/support/processes/starts.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '#test/support/worlds/crm-world.ts';

const random = seeded(seedOfRun());
console.info(`SVC_TEST_SEED=${random.seed}`);

const contacts = Array.from({ length: 300 }, (_, n) => ({ id: `c-${n}`, name: `Contact ${n}` }));

let folder = '';
let world: CrmWorld;
let crm: CrmConnection;
/** A whole data folder of a gateway that has stopped; each test damages a copy, `damaged`. */
let whole = '';
let damaged = '';
/** The same folder as a gateway left it that was killed: its log has content in the write-ahead file. */
let killed = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-damaged-'));
  [whole, damaged, killed] = ['whole', 'damaged', 'killed'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  world = await openCrmWorld();
  crm = await world.connect();
  crm.account.contacts = contacts;
  await crm.run('contacts');
  world.gateway.process.kill('SIGKILL');
  await world.restart((dataDir) =>
    cp(dataDir, killed, { recursive: true, verbatimSymlinks: true }),
  );
  await world.restart((dataDir) => cp(dataDir, whole, { recursive: true, verbatimSymlinks: true }));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await rm(damaged, { recursive: true, force: true });
  await cp(whole, damaged, { recursive: true, verbatimSymlinks: true });
});

const inFolder = (...names: string[]) => join(damaged, ...names);
const logFile = () => inFolder('log', 'log.sqlite');

const pageBytes = 8192;

/** Of a table of the log. */
function rootPage(table: string): number {
  const database = new DatabaseSync(logFile(), { readOnly: true });
  const row = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table);
  database.close();
  return Number(row?.['rootpage']);
}

const keyBytes = 32;

/** Slots of `row-keys` that hold the keys of rows: a sealed body begins with its own. */
function usedSlots(): number[] {
  const database = new DatabaseSync(logFile(), { readOnly: true });
  const rows = database
    .prepare(
      `SELECT body FROM batches WHERE length(body) > 0 AND partition IN
      (SELECT p.id FROM partitions p JOIN topics t ON t.id = p.topic WHERE t.name = ?)`,
    )
    .all('svc.internal.keys.v1');
  database.close();
  return rows.map(({ body }) => Buffer.from(body as Uint8Array).readUInt32LE(0));
}

async function overwrite(file: string, position: number, length: number): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.write(
    Buffer.from(Array.from({ length }, () => random.int(256))),
    0,
    length,
    position,
  );
}

describe('a start over a data folder whose log is gone', () => {
  it.each<[string, () => Promise<void>]>([
    ['the folder', () => rm(inFolder('log'), { recursive: true })],
    [
      'what is in it',
      async () => {
        await rm(inFolder('log'), { recursive: true });
        await mkdir(inFolder('log'));
      },
    ],
    ['what is in its file', () => truncate(logFile(), 0)],
  ])('is refused, and changes nothing: %s', async (_, lose) => {
    await lose();
    const before = await readdir(damaged, { recursive: true });
    const { code, out, err } = await failedStart(damaged);
    expect(err).toMatch(/^SVC_DATA_DIR: the event log is missing\..*Restore the folder .*\n$/);
    expect(err).toContain(inFolder('log'));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(await readdir(damaged, { recursive: true })).toEqual(before);
  });
});

describe('a start over a log that is damaged', () => {
  const refusal = () =>
    new RegExp(
      `(?:^|\\n)[^\\n]* Its files are ${logFile()} and row-keys: restore the folder .*\\n$`,
    );

  it('and cut names its file and what to do', async () => {
    const { size } = await stat(logFile());
    await truncate(logFile(), 1 + random.int(size - 1));
    const { code, out, err } = await failedStart(damaged);
    expect(err).toMatch(refusal());
    expect(err).not.toMatch(/\n {4}at /);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });

  it('where it is read first names its file and what to do', async () => {
    const pages = [1, rootPage('topics'), rootPage('partitions'), rootPage('schemas')];
    await overwrite(logFile(), pageBytes * (random.pick(pages) - 1), pageBytes);
    const { code, out, err } = await failedStart(damaged);
    expect(err).toMatch(refusal());
    expect(err).not.toMatch(/\n {4}at /);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });

  it('in the key of a row names its files and what to do, in a line', async () => {
    const slot = random.pick(usedSlots());
    await overwrite(inFolder('log', 'row-keys'), keyBytes * slot, keyBytes);
    const { code, out, err } = await failedStart(damaged);
    expect(err).toMatch(/^The event log is corrupt: svc\.internal\.keys\.v1\/0, .*\n$/);
    expect(err).toMatch(refusal());
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });
});

describe('a start over a log that lacks what was acknowledged before a kill', () => {
  beforeEach(async () => {
    await rm(damaged, { recursive: true });
    await cp(killed, damaged, { recursive: true, verbatimSymlinks: true });
    await rm(inFolder('log', 'log.sqlite-wal'));
  });

  it('names what is missing and how to go on, and changes nothing', async () => {
    const evidence = ['log.sqlite', 'row-keys', 'acknowledged-ends'].map((name) =>
      inFolder('log', name),
    );
    const bytes = () => Promise.all(evidence.map((file) => readFile(file)));
    const before = await bytes();
    const { code, out, err } = await failedStart(damaged);
    expect(err).toMatch(
      /^The event log lacks \d+ acknowledged messages, by offset: svc\.\S+ \d+ to \d+.* svc log accept-loss .*\n$/,
    );
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(await bytes()).toEqual(before);
    expect((await failedStart(damaged)).code).toBe(1);
  });

  it('goes on once an operator has accepted the loss', async () => {
    const accepted = await acceptLoss(damaged);
    expect(accepted).toMatchObject({ code: 0, err: '' });
    const { lost } = JSON.parse(accepted.out) as { lost: object };
    expect(Object.keys(lost)).toContainEqual(expect.stringMatching(/^svc\./));
    await using gateway = await world.startOn(damaged);
    expect(await gateway.call('GET', '/ready', { key: null })).toMatchObject({ status: 200 });
  });
});

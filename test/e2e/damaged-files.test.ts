import { mkdtemp, readdir, realpath, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { copyFolder, restartOver, xorByte } from '#test/support/judges/wounds.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '#test/support/worlds/crm-world.ts';

const random = seeded(seedOfRun());
console.info(`SVC_TEST_SEED=${random.seed}`);

const contactsNamed = (name: string) =>
  Array.from({ length: 200 }, (_, n) => ({ id: `c-${n}`, name }));

let folder = '';
/** A whole data folder of a gateway that has stopped. */
let whole = '';
let world: CrmWorld;
let crm: CrmConnection;
/** Files of the stores that are made of the log, by what they are. */
let kinds: ReadonlyMap<string, readonly string[]>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-damaged-files-'));
  whole = join(folder, 'whole');
  world = await openCrmWorld();
  crm = await world.connect();
  for (const name of ['first', 'second']) {
    crm.account.contacts = contactsNamed(name);
    await crm.run('contacts');
  }
  await world.restart((dataDir) => copyFolder(dataDir, whole));
  kinds = await kindsOfFiles();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Numbers of partitions say nothing of the kind. */
async function kindsOfFiles(): Promise<ReadonlyMap<string, readonly string[]>> {
  const folders = ['state', 'views'].map((name) =>
    readdir(join(whole, name), { recursive: true, withFileTypes: true }),
  );
  const files = (await Promise.all(folders))
    .flat()
    .filter((entry) => entry.isFile())
    .map((entry) => relative(whole, join(entry.parentPath, entry.name)));
  const full: string[] = [];
  for (const file of files.toSorted()) {
    if ((await stat(join(whole, file))).size > 0) full.push(file);
  }
  return Map.groupBy(full, (file) => file.replaceAll(/\d+/g, '*'));
}

type Damage = (file: string) => Promise<void>;

const ways: Readonly<Record<string, Damage>> = {
  emptied: (file) => truncate(file, 0),
  halved: async (file) => truncate(file, Math.floor((await stat(file)).size / 2)),
  deleted: (file) => rm(file),
  async flipped(file) {
    const { size } = await stat(file);
    for (let flips = 0; flips < 20; flips += 1)
      await xorByte(file, random.int(size), 1 + random.int(255));
  },
};

async function mustServeEveryRecord(damage: string): Promise<void> {
  const served = await crm.all('Contact');
  expect(
    served.map(({ id, name }) => ({ id, name })).toSorted((a, b) => compare(a.id, b.id)),
    damage,
  ).toEqual(contactsNamed('second').toSorted((a, b) => compare(a.id, b.id)));
}

const compare = (a: string, b: string): number => a.localeCompare(b);

describe('a start over a damaged file that is made of the log', () => {
  it.each(Array.from({ length: roundsOf({ push: 2, all: 24 }) }, (_, round) => round))(
    'rebuilds it, and serves every record as it was: round %i',
    async () => {
      const kind = random.pick([...kinds.keys()]);
      const file = random.pick(kinds.get(kind)!);
      const way = random.pick(Object.keys(ways));
      await restartOver(world, whole, (dataDir) => ways[way]!(join(dataDir, file)));
      await mustServeEveryRecord(`${file} ${way}`);
    },
  );
});

/** Where the engine keeps the definitions of all tables. */
const definitions = (dataDir: string) =>
  realpath(join(dataDir, 'clickhouse', 'metadata', 'default'));

/**
 * The folders of the table's parts with the last block, `<partition>_<first block>_<last block>_<level>`: the part that was
 * inserted last, and one that it was merged into.
 */
async function newestParts(dataDir: string, table: string): Promise<string[]> {
  const folder = await realpath(join(dataDir, 'clickhouse', 'data', 'default', table));
  const parts = (await readdir(folder)).filter((name) => /^(?:\d+|all)(?:_\d+){3}/.test(name));
  const lastBlock = (part: string) => Number(part.split('_')[2]);
  const last = Math.max(...parts.map(lastBlock));
  return parts.filter((part) => lastBlock(part) === last).map((part) => join(folder, part));
}

describe('a start over damaged tables', () => {
  it.each<[string, (dataDir: string) => Promise<void>]>([
    [
      'a definition that cannot be read',
      async (dataDir) => writeFile(join(await definitions(dataDir), 'records.sql'), 'ATTACH ?'),
    ],
    [
      'a part of the records that lacks a file',
      async (dataDir) => {
        for (const part of await newestParts(dataDir, 'records'))
          await rm(join(part, 'partition.dat'));
      },
    ],
  ])('rebuilds them, and serves every record as it was: %s', async (damage, damaged) => {
    await restartOver(world, whole, damaged);
    await mustServeEveryRecord(damage);
    const logged = world.gateway.log.filter((line) => line.includes('rebuilt from the log'));
    expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ level: 40, folder: join(world.gateway.dataDir, 'clickhouse') }),
    ]);
    expect(await readdir(world.gateway.dataDir)).not.toContain('clickhouse.damaged');
  });
});

import { mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '#ports/sandbox.ts';
import { roundsOf, someOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { copyFolder, flipEveryBlock, restartOver, xorByte } from '#test/support/judges/wounds.ts';
import { commandLine } from '#test/support/processes/command-line.ts';
import { withLimits } from '#test/support/processes/with-limits.ts';
import {
  eventually,
  openCrmWorld,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const random = seeded(seedOfRun());
console.info(`SVC_TEST_SEED=${random.seed}`);

const contacts = Array.from({ length: 400 }, (_, n) => ({ id: `c-${n}`, name: `Contact ${n}` }));
const byId = contacts.toSorted((a, b) => a.id.localeCompare(b.id));

/** As of tables that are too large to be checked before the start. */
const checkedLater = withLimits({ tableCheckedAtStartBytes: -1 });

let folder = '';
/** The data folder of a gateway that has stopped. */
let whole = '';
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-damaged-tables-'));
  whole = join(folder, 'whole');
  world = await openCrmWorld();
  crm = await world.connect();
  crm.account.contacts = contacts;
  await crm.run('contacts');
  await world.restart((dataDir) => copyFolder(dataDir, whole));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The parts of the table, each a folder. */
async function partsOf(dataDir: string, table: string): Promise<string[]> {
  const path = await realpath(join(dataDir, 'clickhouse', 'data', 'default', table));
  const names = (await readdir(path)).filter((name) => /^(?:\d+|all)(?:_\d+){3}/.test(name));
  return names.map((name) => join(path, name));
}

/** One bit of the file of every part: the one that holds the records is among them. */
async function flip(dataDir: string, table: string, file: string): Promise<void> {
  for (const part of await partsOf(dataDir, table)) {
    const path = join(part, file);
    const { size } = await stat(path);
    await xorByte(path, random.int(size), 1 << random.int(8));
  }
}

/** Of every part, so much that no query of the table is answered, also none at the start. */
async function flipAll(dataDir: string, table: string, file: string): Promise<void> {
  for (const part of await partsOf(dataDir, table)) await flipEveryBlock(join(part, file));
}

type Records = Awaited<ReturnType<CrmConnection['all']>>;

const mustServeEveryRecord = async (): Promise<void> => mustBeEveryRecord(await crm.all('Contact'));

/** Tables that are filled again refuse reads until they are whole; they never serve a part. */
async function mustServeEveryRecordOnceFilled(): Promise<void> {
  const all = () =>
    crm.all('Contact').catch((error: unknown) => {
      if (String(error).includes('projection_unavailable')) return null;
      throw error;
    });
  const served = await eventually(all, (records) => records !== null);
  mustBeEveryRecord(served ?? []);
}

function mustBeEveryRecord(served: Records): void {
  const fields = served.map(({ id, name }) => ({ id, name }));
  expect(fields.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(byId);
}

/** A request that reads the damaged block is refused; one that reads only other columns is served in full. */
async function mustRefuseOrBeWhole(): Promise<void> {
  const page = await world.gateway.call('GET', '/records?model=Contact&limit=1000', {
    headers: crm.headers,
  });
  if (page.status === 200) mustBeEveryRecord((page.body as { records: Records }).records);
  else expect(page).toMatchObject({ status: 503, body: { error: { code: 'projection_damaged' } } });
}

const ready = () => world.gateway.call('GET', '/ready', { key: null });
const logged = (text: string) =>
  world.gateway.log
    .filter((line) => line.includes(text))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const svc = (...args: string[]) =>
  commandLine(['projections', ...args], {
    root: folder,
    // No command of projections runs a function.
    sandbox: {} as Sandbox,
    variables: { SVC_HOSTPORT: world.gateway.url, SVC_ACCOUNT_KEY: world.gateway.accountKey },
  });

describe('a start over a small table with a damaged part', () => {
  const files: [table: string, file: string][] = [
    ['records', 'data.bin'],
    ['records', 'minmax_log_partition.idx'],
    ['records_by_id', 'primary.cidx'],
    ['stream_segments', 'data.bin'],
    ['projector_positions', 'data.bin'],
    ['projection_migrations', 'data.bin'],
    ['runs', 'count.txt'],
  ];
  it.each(someOf(files, roundsOf({ push: 2, all: files.length }), random.seed))(
    'fills all tables from the log: a bit of %s, %s',
    async (table, file) => {
      await restartOver(world, whole, (dataDir) => flip(dataDir, table, file));
      await mustServeEveryRecordOnceFilled();
      const [line, ...others] = logged('rebuilt from the log');
      expect(line!['reason']).toMatch(
        new RegExp(`the part \\S+ of ${table} is (?:damaged|broken)`),
      );
      expect(others).toEqual([]);
      expect(await ready()).toMatchObject({ status: 200 });
    },
  );
});

describe('a damaged part of a table that is read', () => {
  const damages = [
    { damage: 'one bit', inflict: flip },
    { damage: 'every block', inflict: flipAll },
  ];
  const some = someOf(damages, roundsOf({ push: 1, all: damages.length }), random.seed);
  const named =
    'is named by /ready and the log, with the command that rebuilds it, until it has run';
  it.each(some)(`${named}: $damage`, async ({ inflict }) => {
    await restartOver(
      world,
      whole,
      (dataDir) => inflict(dataDir, 'records', 'data.bin'),
      checkedLater,
    );
    const command = 'svc projections rebuild records --switch';
    const refused = await eventually(ready, ({ status }) => status === 503);
    expect(JSON.stringify(refused.body)).toMatch(
      new RegExp(`the table records is damaged .*part \\d+_\\S+: .*${command}`),
    );
    await mustRefuseOrBeWhole();
    await mustRefuseOrBeWhole();
    const parts = logged('a part of a table is damaged').map(({ table, part }) => ({
      table,
      part,
    }));
    expect(parts.length).toBeGreaterThan(0);
    expect(new Set(parts.map(({ part }) => part)).size).toBe(parts.length);

    const [, word, ...args] = command.split(' ');
    expect(word).toBe('projections');
    const rebuilt = await svc(...args, '--yes');
    expect(rebuilt).toMatchObject({ exitCode: 0 });
    // The comparison reads only some of the columns, as a page does.
    expect(rebuilt.err).toMatch(/The active tables of records are damaged|No difference/);
    await eventually(ready, ({ status }) => status === 200);
    await mustServeEveryRecord();
    crm.account.contacts = [...contacts];
    await crm.run('contacts');
    await mustServeEveryRecord();
  });

  it('is named for the tables of runs, whose command rebuilds them', async () => {
    await restartOver(
      world,
      whole,
      (dataDir) => flipAll(dataDir, 'runs', 'data.bin'),
      checkedLater,
    );
    const refused = await eventually(ready, ({ status }) => status === 503);
    expect(JSON.stringify(refused.body)).toContain('svc projections rebuild runs --switch');
    await mustServeEveryRecord();
    expect(await svc('rebuild', 'runs', '--switch', '--yes')).toMatchObject({ exitCode: 0 });
    await eventually(ready, ({ status }) => status === 200);
    expect(await world.gateway.call('GET', '/runs')).toMatchObject({ status: 200 });
  });

  const notes = ['projector_positions', 'projection_migrations'];
  it.each(someOf(notes, roundsOf({ push: 1, all: notes.length }), random.seed))(
    'is replaced where it only notes what was done: %s',
    async (table) => {
      await restartOver(world, whole, (dataDir) => flip(dataDir, table, 'data.bin'), checkedLater);
      await eventually(ready, ({ status }) => status === 200);
      await eventually(
        () => Promise.resolve(logged('was replaced by an empty one')),
        (lines) => lines.some((line) => line['table'] === table),
      );
      await mustServeEveryRecordOnceFilled();
    },
  );
});

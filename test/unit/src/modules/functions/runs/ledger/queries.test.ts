import { expect, it } from 'vitest';
import { migrate } from '#adapters/projection-store/migrate.ts';
import type { ControlPlane, ControlView } from '#control-plane/control-plane.ts';
import { systemClock } from '#kernel/time.ts';
import { runs } from '#modules/functions/runs/ledger/projection.ts';
import { findRuns, type RunFilter } from '#modules/functions/runs/ledger/queries.ts';
import type { FunctionsServices } from '#modules/functions/services.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const tables = await storeOfFile();
const view: Partial<ControlView> = { find: () => null };
const control: Partial<ControlPlane> = { view: view as ControlView };
const services: Partial<FunctionsServices> = { control: control as ControlPlane, tables };
const deps = services as FunctionsServices;
const second = 1_000_000;
/** The table keeps no old runs. */
const begin = systemClock.nowMicros() - 3_600 * second;
const lastActions = ['queued', 'started', 'succeeded', 'succeeded', 'succeeded', 'failed', 'lost'];

it('a page of some status has the newest runs, whether few or all are searched', async () => {
  const random = seeded(seedOfRun());
  console.info(`seed ${random.seed}`);
  const set = runs.tableSet(1);
  await migrate(tables, set.migrations);
  // Several are queued at the same time; some end long after later ones.
  const all = Array.from({ length: 400 }, (_, at) => ({
    runId: `r${at}`,
    queuedAt: begin + random.int(200) * second,
    fn: random.pick(['one', 'two']),
    action: random.pick(lastActions),
  }));
  let offset = 0;
  const row = (run: (typeof all)[number], action: string, after: number): string =>
    `('env', fromUnixTimestamp64Micro(${run.queuedAt + after}), '${run.runId}', '${action}', '${run.fn}', 1, ${offset++})`;
  const rows = all.flatMap((run) => [
    row(run, 'queued', 0),
    ...(run.action === 'queued' ? [] : [row(run, 'started', second)]),
    ...(run.action === 'queued' || run.action === 'started'
      ? []
      : [row(run, run.action, random.int(300) * second)]),
  ]);
  const columns = 'environment_id, occurred_at, run_id, action, function, attempt, log_offset';
  await tables.command(`INSERT INTO ${set.tables[0]} (${columns}) VALUES ${rows.join(', ')}`);

  for (let asked = 0; asked < 40; asked += 1) {
    const actions = [random.pick([...new Set(lastActions)]), random.pick(['failed', 'cancelled'])];
    const functionName = random.pick(['one', 'two']);
    const limit = 1 + random.int(12);
    const from = begin + random.pick([0, 100 * second]);
    const after = random.chance(50) ? random.pick(all) : null;
    const filter = { environmentUid: 'env', from, to: begin + 900 * second, actions, functionName };
    const wanted = all
      .filter((run) => run.queuedAt >= from && run.fn === functionName)
      .filter(({ action }) => actions.includes(action))
      .sort(newestFirst)
      .filter((run) => after === null || newestFirst(after, run) < 0)
      .slice(0, limit)
      .map(({ runId, queuedAt }) => ({ runId, queuedAt }));
    const found = await findRuns(deps, filter, { after, limit }, [10, 60]);
    expect(found, JSON.stringify({ filter, limit, after })).toEqual(wanted);
  }
});

it('a page reads little of a large ledger', async () => {
  await migrate(tables, runs.tableSet(1).migrations);
  await fillLedger();
  const before = await rowsRead();
  const found = await findRuns(deps, wholeLedger, { after: null, limit: 3 });
  expect((await rowsRead()) - before).toBeLessThan(ledgerSize / 4);
  expect(found.map(({ runId }) => runId)).toEqual(['399999', '399998', '399997']);
});

it.each<Pick<RunFilter, 'actions'>>([{}, { actions: ['queued'] }])(
  'a page of a connection with few runs reads little, of an older table too: %o',
  async (filter) => {
    const [created, ...later] = runs.tableSet(1).migrations;
    await migrate(tables, created === undefined ? [] : [created]);
    await fillLedger();
    await migrate(tables, later);
    await eventually(
      () => tables.queryRows('SELECT 1 FROM system.mutations WHERE NOT is_done'),
      (unfinished) => unfinished.length === 0,
    );
    const ofQuiet = { ...wholeLedger, ...filter, connectionId: 'quiet' };
    const before = await rowsRead();
    const found = await findRuns(deps, ofQuiet, { after: null, limit: 3 }, []);
    expect((await rowsRead()) - before).toBeLessThan(ledgerSize / 4);
    expect(found.map(({ runId }) => runId)).toEqual(['200017', '17']);
  },
);

const ledgerSize = 400_000;
const wholeLedger = { environmentUid: 'env', from: begin, to: begin + ledgerSize };

/** Runs of a hundred connections, and two of `quiet`. */
async function fillLedger(): Promise<void> {
  const values = {
    environment_id: "'env'",
    occurred_at: `fromUnixTimestamp64Micro(toInt64(${begin}) + toInt64(number))`,
    run_id: 'toString(number)',
    connection_id: "if(number IN (17, 200017), 'quiet', concat('busy-', toString(number % 100)))",
    action: "'queued'",
    attempt: '1',
    log_partition: 'number % 4',
    log_offset: 'number',
  };
  await tables.command(
    `INSERT INTO ${runs.tableSet(1).tables[0]} (${Object.keys(values).join(', ')})
     SELECT ${Object.values(values).join(', ')} FROM numbers(${ledgerSize})`,
  );
}

/** Of all tables, since the engine has started. */
async function rowsRead(): Promise<number> {
  const [row] = await tables.queryRows<{ value: string }>(
    "SELECT value FROM system.events WHERE event = 'SelectedRows'",
  );
  return Number(row?.value ?? 0);
}

type Place = { readonly queuedAt: number; readonly runId: string };
const newestFirst = (one: Place, other: Place): number =>
  other.queuedAt - one.queuedAt ||
  Number(one.runId < other.runId) - Number(one.runId > other.runId);

import { expect, it } from 'vitest';
import { migrate } from '#adapters/projection-store/migrate.ts';
import { records } from '#modules/records/projection/definition.ts';
import type { Migration, MigrationStep } from '#ports/projection-store.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

/** The migrations of the release before the files of parts were chosen. */
const earlier = (migrations: readonly Migration[]): Migration[] =>
  migrations
    .filter(({ number }) => number < 3)
    .map(({ steps, ...rest }) => ({ ...rest, steps: steps.map(withEngineDefaults) }));

function withEngineDefaults(step: MigrationStep): MigrationStep {
  if (typeof step === 'string' || 'select' in step) return step;
  const { min_bytes_for_wide_part: _, ...settings } = step.settings ?? {};
  return { ...step, settings };
}

/** 12 MB of payloads, for which the engine itself would make a file of each column. */
const fill = (table: string, firstPosition: number): Promise<void> =>
  store.command(
    `INSERT INTO ${table} (log_partition, stream_id, position, record_id, version, payload)
     SELECT 0, 1, ${firstPosition} + number, toString(number), 1, randomPrintableASCII(12000) FROM numbers(1000)`,
  );

async function partsOf(table: string): Promise<string[]> {
  const rows = await store.queryRows<{ part_type: string }>(
    'SELECT part_type FROM system.parts WHERE table = {table:String} AND active ORDER BY name',
    { table },
  );
  return rows.map(({ part_type: type }) => type);
}

it('keeps the columns of a part in one file, in tables of earlier releases too', async () => {
  const { migrations, names } = records.tableSet(3);
  await migrate(store, earlier(migrations));
  await store.command(`SYSTEM STOP MERGES ${names.records}`);
  await fill(names.records, 1);
  expect(await partsOf(names.records)).toEqual(['Wide']);

  await migrate(store, migrations);
  await fill(names.records, 2000);
  expect(await partsOf(names.records)).toEqual(['Wide', 'Compact']);
});

it('makes new tables so', async () => {
  const { migrations, names } = records.tableSet(4);
  await migrate(store, migrations);
  await fill(names.records, 1);
  expect(await partsOf(names.records)).toEqual(['Compact']);
});

import { expect, it } from 'vitest';
import { dayMs } from '#kernel/time.ts';
import { trimHistory } from '#modules/records/projection/cleanup.ts';
import { recordTables } from '#modules/records/read/tables.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { partitions, TestProjection } from '#test/support/worlds/projection.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

it('keeps the history that can be asked for, of each record its newest change, and nothing of purged ones', async () => {
  const model = new RecordModel();
  // Nothing is cleaned but what the test asks for.
  const options = { cleanupMin: Infinity };
  await using projection = await TestProjection.open(store, undefined, options);
  const old = [model.save('a', { v: 1 }), model.save('a', { v: 2 }), model.save('b', { v: 1 })];
  await projection.publish(model, [...old, model.save('c', { v: 1 }), model.purge('c')]);
  const left = async (): Promise<string[]> => {
    const rows = await store.queryRows<{ found: string }>(
      `SELECT concat(record_id, toString(version)) AS found FROM record_history ORDER BY found`,
    );
    return rows.map(({ found }) => found);
  };
  expect(await left()).toEqual(['a1', 'a2', 'b3', 'c4', 'c5']);
  const trim = async (now: number): Promise<void> => {
    for (let at = 0; at < partitions; at++)
      await trimHistory(store, recordTables(1), at, Math.floor(now));
  };
  await trim(model.at / 1000 + 29 * dayMs);
  expect(await left()).toEqual(['a1', 'a2', 'b3']);
  await trim(model.at / 1000 + 31 * dayMs);
  expect(await left()).toEqual(['a2', 'b3']);
});

import { expect, it } from 'vitest';
import { openTestStore } from '#test/support/worlds/projection.ts';
import { projectionStoreContract } from './projection-store.contract.ts';

projectionStoreContract('embedded', openTestStore);

it('runs the engine of the process with settings for little memory', async () => {
  await using opened = await openTestStore();
  const settings = await opened.store.queryRows<{ name: string; value: string }>(
    `SELECT name, value FROM system.server_settings WHERE changed AND name LIKE 'memory_worker%'`,
  );
  expect(settings).toEqual([{ name: 'memory_worker_period_ms', value: '5000' }]);
});

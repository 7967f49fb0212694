import { expect, it } from 'vitest';
import { startSyncInstances } from '#modules/functions/syncs/reconcile.ts';
import { silent } from '#test/support/worlds/control.ts';
import { openRunWorld, until } from '#test/support/worlds/runs.ts';

it('a connection that was created gets its syncs, though nobody asked for them', async () => {
  await using world = await openRunWorld();
  const { log, embedded } = world.world;
  await world.deploy('sync', 'contacts', '', {
    models: ['Contact'],
    frequency: 'every hour',
    autoStart: true,
  });
  expect(world.syncOf('contacts')).toBeNull();
  const { control } = world.node;
  const operatorRequests = world.operatorRequests('svc.sync-instances');
  await using _ = await startSyncInstances({
    log,
    schemas: embedded.schemas,
    control,
    logger: silent,
    operatorRequests,
  });
  await until(() => world.syncOf('contacts'));
  expect(world.syncOf('contacts')).toMatchObject({
    state: 'started',
    current: { trigger: 'creation' },
  });
});

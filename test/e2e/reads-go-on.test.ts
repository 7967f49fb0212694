import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNothingLost } from '#test/support/judges/expect-nothing-lost.ts';
import { caughtUp, copyLog, readWhileMoving } from '#test/support/judges/reads-go-on.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import { openCrmWorld, type CrmWorld } from '#test/support/worlds/crm-world.ts';

let folder: string;
let world: CrmWorld;
let started: AsyncDisposableStack;
beforeAll(async () => {
  started = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'svc-reads-go-on-'));
  world = await openCrmWorld({ env: { SVC_RATE_LIMIT_PER_MINUTE: '0' } });
});
afterAll(async () => {
  await started[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const start = async (dataDir: string, more: Readonly<Record<string, string>>) =>
  started.use(await world.startOn(dataDir, more));

it('an embedded log gets more partitions while its records are read', async () => {
  const crm = await world.connect();
  const { dataDir } = world.gateway;
  const next = join(folder, 'next');
  const seen = await readWhileMoving(world, crm, async (door): Promise<RunningGateway> => {
    door.leadTo(null);
    await world.gateway.stop();
    await copyLog(dataDir, next);
    const reading = await start(dataDir, { SVC_READ_ONLY: 'yes' });
    door.leadTo(reading);
    expect(await transfer('repartition', '24', next)).toMatchObject({ from: 4, to: 24 });
    const grown = await start(next, { SVC_PARTITIONS: '24' });
    await caughtUp(grown);
    door.leadTo(grown);
    await reading.stop();
    return grown;
  });
  expectNothingLost(seen);
  // Only while no gateway was there.
  expect(seen.refusedReads).toBe(seen.unansweredReads);
});

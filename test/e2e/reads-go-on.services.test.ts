import '#test/support/processes/with-services.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import { expectNothingLost } from '#test/support/judges/expect-nothing-lost.ts';
import { caughtUp, readWhileMoving } from '#test/support/judges/reads-go-on.ts';
import { deploymentEnv } from '#test/support/processes/deployment.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import { openCrmWorld, type CrmWorld } from '#test/support/worlds/crm-world.ts';

let folder: string;
let started: AsyncDisposableStack;
/** Of the former installation, and of the new one. */
let tables: readonly ClickHouseFront[];
let world: CrmWorld;
beforeAll(async () => {
  started = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'svc-reads-go-on-'));
  tables = [started.use(await startClickHouseFront()), started.use(await startClickHouseFront())];
  const env = { SVC_RATE_LIMIT_PER_MINUTE: '0', SVC_CLICKHOUSE_URL: tables[0]!.url };
  world = await openCrmWorld({ env });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await started[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('a log in Kafka gets more partitions while its records are read, and no read is refused', async () => {
  const crm = await world.connect();
  const { dataDir } = world.gateway;
  const former = deploymentEnv(dataDir);
  const prefix = `${former['SVC_TOPIC_PREFIX']}-b`;
  const start = async (name: string, more: Readonly<Record<string, string>>) =>
    started.use(await world.startOn(join(folder, name), { ...former, ...more }));
  const seen = await readWhileMoving(world, crm, async (door): Promise<RunningGateway> => {
    const reading = await start('reading', { SVC_READ_ONLY: 'yes' });
    door.leadTo(reading);
    await world.gateway.stop();
    const copied = await transfer('repartition', ['8', prefix], dataDir, former);
    expect(copied).toMatchObject({ from: 4, to: 8 });
    const grown = await start('grown', {
      SVC_PARTITIONS: '8',
      SVC_TOPIC_PREFIX: prefix,
      SVC_CLICKHOUSE_URL: tables[1]!.url,
    });
    await caughtUp(grown);
    door.leadTo(grown);
    await reading.stop();
    return grown;
  });
  expectNothingLost(seen);
  expect(seen.refusedReads).toBe(0);
});

/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import {
  changesOfRuns,
  deployOnChange,
  subscriptionOf,
  type SeenChange,
} from '#test/support/worlds/on-change.ts';

const seed = seedOfRun();
console.log(`on-change test: SVC_TEST_SEED=${seed}`);

let world: CrmWorld;
let connections: readonly CrmConnection[];
beforeAll(async () => {
  world = await openCrmWorld();
  connections = [await world.connect(), await world.connect()];
});
afterAll(() => world[Symbol.asyncDispose]());

/** The runs of a killed gateway would be tried again a minute later. */
async function cancelLostRuns(): Promise<void> {
  const { data } = succeeded(await world.gateway.call('GET', '/runs?limit=20')) as {
    data: { id: string; status: string }[];
  };
  for (const { id } of data.filter(({ status }) => status === 'running'))
    await world.gateway.call('POST', `/runs/${id}/cancel`);
}

async function truthOf(): Promise<SeenChange[]> {
  const changes: SeenChange[] = [];
  let query = '';
  for (;;) {
    const page = succeeded(await world.gateway.call('GET', `/changes?limit=100${query}`)) as {
      changes: SeenChange[];
      cursor: string;
      has_more: boolean;
    };
    changes.push(...page.changes);
    if (!page.has_more) return changes;
    query = `&cursor=${page.cursor}`;
  }
}

it('sees each change in one successful run, in order, through kills and deployments', async () => {
  const random = seeded(seed);
  const slow = (version: number) =>
    deployOnChange(
      world,
      'slow',
      `await svc.log('version ${version}'); await new Promise((resolve) => setTimeout(resolve, 20));`,
      { from: 'start', batchSize: 7, retries: 20 },
    );
  await slow(0);
  for (let round = 1; round <= 3; round += 1) {
    for (const crm of connections) {
      crm.account.contacts = Array.from({ length: 40 }, (_, n) => ({
        id: `c-${n}`,
        name: `${round}`,
      }));
      expect(await crm.run('contacts')).toMatchObject({ success: true });
    }
    await wait(random.int(800));
    world.gateway.process.kill('SIGKILL');
    await world.restart();
    await cancelLostRuns();
    await slow(round);
  }
  const truth = await truthOf();
  expect(truth.length).toBe(240);
  const seen = await eventually(
    async () => {
      await cancelLostRuns();
      return (await changesOfRuns(world, 'slow')).flat();
    },
    (all) => all.length >= truth.length,
  );
  expect(seen.map(({ id }) => id).toSorted()).toEqual(truth.map(({ id }) => id).toSorted());
  for (const [key, changes] of Map.groupBy(
    seen,
    (one) => `${one.connection_id} ${one.record_id}`,
  )) {
    const seqs = changes.map(({ seq }) => seq);
    expect(seqs, key).toEqual(seqs.toSorted((a, b) => a - b));
  }
  const { data } = succeeded(await world.gateway.call('GET', subscriptionOf('slow')));
  expect(data).toMatchObject({ parked: 0 });
});

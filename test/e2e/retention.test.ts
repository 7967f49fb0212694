/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canaries } from '#test/support/judges/canaries.ts';
import { everythingKept } from '#test/support/judges/canary-places.ts';
import { daysLater } from '#test/support/processes/days-later.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { cleanLogOf } from '#test/support/worlds/embedded-log.ts';

const canaries = new Canaries();
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const environment = (method: string, path = '', body?: object) =>
  world.gateway.call(method, `/environments/${world.environmentId}${path}`, {
    key: world.gateway.accountKey,
    ...(body === undefined ? {} : { body }),
  });
/** The log gets to the new time: before that nothing goes. */
const arrive = () => environment('PATCH', '', { on_auth_creation: false }).then(succeeded);

/** Where the payloads are, once the gateway has stopped: by kind of place. */
async function placesOfPayloads(): Promise<Set<string>> {
  const places = new Set<string>();
  for await (const { place, bytes } of everythingKept(world.gateway.dataDir)) {
    // Parts that were merged away are files for some minutes yet, which nobody reads; rows are searched as rows.
    if (place.startsWith('file clickhouse')) continue;
    if (canaries.search(place, bytes).length > 0) places.add(place.split(' ')[0] ?? '');
  }
  return places;
}

describe('records that nothing happens to', () => {
  it('are pruned when the environment says so, as a dry run has predicted', async () => {
    crm.account.deals = [1, 2, 3].map((n) => ({
      id: n,
      amount: n,
      title: canaries.plant(`payload ${n}`),
    }));
    await crm.run('deals');
    const pausing = { syncs: ['deals'], provider_config_key: 'crm', connection_id: crm.id };
    succeeded(await world.gateway.call('POST', '/sync/pause', { body: pausing }));
    const shown = succeeded(
      await environment('PATCH', '', { retention: { prune_after_days: 20 } }),
    );
    expect(shown.data.retention).toEqual({ prune_after_days: 20, delete_after_days: 60 });
    const due = succeeded(await environment('GET', '/retention')).data;
    expect(due).toMatchObject({
      clock_is_ahead: false,
      prune: { records: 0, streams: 0 },
      delete: { records: 0, streams: 0 },
    });

    const places: Set<string>[] = [];
    await world.restart(async () => void places.push(await placesOfPayloads()), daysLater(21));
    expect([...places[0]!]).toEqual(expect.arrayContaining(['topic', 'store', 'table']));
    await arrive();
    const page = await eventually(
      () => crm.records('Deal'),
      ({ records }) => records.every(({ _svc_metadata: meta }) => meta.pruned_at != null),
    );
    expect(page.records.map(({ id, title }) => [id, title])).toEqual([
      ['1', undefined],
      ['2', undefined],
      ['3', undefined],
    ]);
  });

  it('are gone from everywhere when their sync has not run for 60 days', async () => {
    await world.restart(undefined, { ...daysLater(62), SVC_LOG_LEVEL: 'info' });
    await arrive();
    await eventually(
      () => crm.records('Deal'),
      ({ records }) => records.length === 0,
    );
    await eventually(
      () => Promise.resolve(world.gateway.log),
      (lines) => lines.some((line) => line.includes('removed superseded rows')),
    );
    await world.restart(undefined, daysLater(92));
    await eventually(
      () => world.gateway.call('GET', '/ready', { key: null }),
      ({ status }) => status === 200,
    );
    await world.gateway.stop();
    // What is superseded for 28 days goes from the log.
    await cleanLogOf(world.gateway.dataDir, 92);
    expect([...(await placesOfPayloads())]).toEqual([]);
  });
});

/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import {
  changesOfRuns,
  deployOnChange,
  subscriptionOf,
  type SeenChange,
} from '#test/support/worlds/on-change.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const contact = (id: string, name = id) => ({ id, name });
const get = async (path: string) => succeeded(await world.gateway.call('GET', path)).data;
const post = async (path: string) => succeeded(await world.gateway.call('POST', path)).data;

async function save(...list: ReturnType<typeof contact>[]): Promise<void> {
  crm.account.contacts = list;
  expect(await crm.run('contacts')).toMatchObject({ success: true });
}

/** What the successful runs have seen, once they have seen so many. */
const seenOf = async (name: string, count: number): Promise<SeenChange[]> =>
  eventually(
    async () => (await changesOfRuns(world, name)).flat(),
    (seen) => seen.length >= count,
  );
const shown = ({ action, record_id: id, record }: SeenChange) => [action, id, record?.name ?? null];

describe('an on-change function', () => {
  it('runs on each change after its deployment, in order', async () => {
    await save(contact('old'));
    await deployOnChange(world, 'mirror', `await svc.log('seen ' + changes.length);`);
    await save(contact('old'), contact('a'), contact('b'));
    await save(contact('old'), contact('a', 'A'), contact('b'));
    expect((await seenOf('mirror', 3)).map(shown)).toEqual([
      ['added', 'a', 'a'],
      ['added', 'b', 'b'],
      ['updated', 'a', 'A'],
    ]);
    const { data } = succeeded(await world.gateway.call('GET', '/runs?kind=on-change&limit=1'));
    expect(data[0]).toMatchObject({ kind: 'on-change', function: 'mirror', connection_id: crm.id });
    expect(await get(subscriptionOf('mirror'))).toMatchObject({
      models: ['Contact'],
      target: { type: 'function', provider_config_key: 'crm', name: 'mirror' },
      parked: 0,
      failing: 0,
    });
  });

  it('keeps its position when it is deployed again', async () => {
    await deployOnChange(world, 'mirror', `await svc.log('again');`);
    await save(contact('old'), contact('a', 'A'), contact('b', 'B'));
    expect((await seenOf('mirror', 4)).map(shown).at(-1)).toEqual(['updated', 'b', 'B']);
  });

  it('begins with every record where it says so', async () => {
    await deployOnChange(world, 'whole', `await svc.log('all');`, { from: 'start' });
    const seen = await seenOf('whole', 5);
    expect(new Set(seen.map(({ record_id: id }) => id))).toEqual(new Set(['old', 'a', 'b']));
  });

  it('parks the change that fails, goes on with the others, and replays it after a fix', async () => {
    const failing = `if (changes.some((one) => one.record_id === 'bad')) throw new Error('no bad ones');`;
    await deployOnChange(world, 'picky', failing);
    const path = subscriptionOf('picky');
    const ids = ['p1', 'p2', 'bad', 'p3', 'p4', 'p5'];
    await save(...ids.map((id) => contact(id)));
    const good = await seenOf('picky', ids.length - 1 + 3);
    // With those that the sync no longer has.
    expect(good.filter(({ action }) => action === 'added').map(({ record_id: id }) => id)).toEqual(
      ids.filter((id) => id !== 'bad'),
    );
    const parked = await get(`${path}/parked`);
    expect(parked).toMatchObject([
      {
        reason: expect.stringContaining('no bad ones'),
        replaying: false,
        change: { record_id: 'bad' },
      },
    ]);
    const { place } = parked[0];
    // Without a fix it stays.
    await post(`${path}/parked/${place}/replay`);
    await eventually(
      () => get(`${path}/parked`),
      ([one]) => one.replaying === false && one.reason !== parked[0].reason,
    );
    await deployOnChange(world, 'picky', `await svc.log('any');`);
    await post(`${path}/parked/${place}/replay`);
    await eventually(
      () => get(`${path}/parked`),
      (left) => left.length === 0,
    );
    const seen = await seenOf('picky', good.length + 1);
    expect(seen.filter(({ record_id: id }) => id === 'bad')).toHaveLength(1);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  });

  it('commits its position alone, and is deleted with its function', async () => {
    const path = subscriptionOf('picky');
    const { cursor } = succeeded(await world.gateway.call('GET', `${path}/changes`));
    const commit = await world.gateway.call('POST', `${path}/commit`, { body: { cursor } });
    expect(commit).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    const refused = await world.gateway.call('DELETE', path);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    const reconciliationScope = {
      kind: 'function',
      integrationId: 'crm',
      name: 'picky',
      type: 'on-change',
    };
    const body = { reconciliationScope, functions: [] };
    succeeded(await world.gateway.call('POST', '/functions/deployments/bundle', { body }));
    await eventually(
      () => world.gateway.call('GET', path),
      ({ status }) => status === 404,
    );
  });

  it('names models that a sync of its integration saves', async () => {
    const named = { type: 'on-change', name: 'wrong', integrationId: 'crm' };
    const fn = { ...named, models: ['Contakt'], fileBody: { js: 'x', ts: 'x' } };
    const reconciliationScope = { kind: 'function', ...named };
    const body = { reconciliationScope, functions: [fn] };
    const answer = await world.gateway.call('POST', '/functions/deployments/bundle', { body });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_body' } } });
    expect(answer.body.error.message).toContain('Contakt');
  });
});

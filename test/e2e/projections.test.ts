/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-call --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

describe('a projection over the API', () => {
  let world: CrmWorld;
  beforeAll(async () => {
    world = await openCrmWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const ask = async (method: string, path: string, body?: object, key?: string) =>
    world.gateway.call(method, `/projections${path}`, {
      key: key ?? world.gateway.accountKey,
      ...(body === undefined ? {} : { body }),
    });
  const found = async () => succeeded(await ask('GET', '/records')).data;
  const beside = async () =>
    (await found()).generations.find((one: { state: string }) => one.state !== 'active');

  it('is for the key of the account, and answers what cannot be with what to do', async () => {
    expect((await ask('GET', '', undefined, world.gateway.key)).status).toBe(403);
    expect(await ask('GET', '/nothing')).toMatchObject({ status: 404 });
    expect(await ask('POST', '/nothing/rebuild', {})).toMatchObject({ status: 404 });
    for (const [path, body] of [
      ['/records/verify', undefined],
      ['/records/switch', {}],
      ['/records/rollback', undefined],
    ] as const) {
      const answer = await ask('POST', path, body);
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    }
    expect((await ask('DELETE', '/records/generations/1')).status).toBe(409);
    expect((await ask('DELETE', '/records/generations/7')).status).toBe(404);
    expect((await ask('POST', '/records/rebuild', { pace_percent: 0 })).status).toBe(400);
  });

  it('is rebuilt, switched and rolled back without a webhook or a run', async () => {
    const crm = await world.connect();
    crm.account.contacts = Array.from({ length: 120 }, (_, n) => ({
      id: `c-${n}`,
      name: `N ${n}`,
    }));
    await crm.run('contacts');
    const before = await crm.all('Contact');
    const cursor = before[59]!._svc_metadata.cursor;
    const hooks = world.receiver.received.length;
    const asked = crm.account.asked.length;

    expect(succeeded(await ask('POST', '/records/rebuild', {})).data.generations).toHaveLength(2);
    // Its position is noted after the rows that make it ready.
    const filled: unknown = await eventually(
      beside,
      (one) => one.state === 'ready' && one.lag === 0,
    );
    expect(filled).toMatchObject({ progress: 1, rows: before.length });
    expect((await ask('POST', '/records/switch', {})).status).toBe(409);
    expect((await ask('POST', '/records/verify')).status).toBe(202);
    await eventually(beside, (one) => one.verification?.state !== 'running');
    expect((await beside()).verification).toMatchObject({
      state: 'passed',
      expected_rows: before.length,
      found_rows: before.length,
      differences: 0,
    });
    expect(succeeded(await ask('POST', '/records/switch', {})).data.active_generation).toBe(2);
    expect(await crm.all('Contact')).toEqual(before);
    expect(await crm.all('Contact', cursor)).toEqual(before.slice(60));

    expect(world.receiver.received).toHaveLength(hooks);
    expect(crm.account.asked).toHaveLength(asked);
    crm.account.contacts = [{ id: 'c-new', name: 'New' }, ...crm.account.contacts];
    await crm.run('contacts');
    expect(succeeded(await ask('POST', '/records/rollback')).data.active_generation).toBe(1);
    expect((await crm.all('Contact', cursor)).map(({ id }) => id)).toEqual([
      ...before.slice(60).map(({ id }) => id),
      'c-new',
    ]);

    expect((await ask('DELETE', '/records/generations/2')).status).toBe(202);
    await eventually(found, ({ generations }) => generations.length === 1);
    expect((await found()).active_generation).toBe(1);
  });
});

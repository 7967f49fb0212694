/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access --
   a test looks into any answer, and expect.any() is anything */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: CrmWorld;
let crm: CrmConnection;
let customKey = '';
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect({ metadata: { plan: 'pro' } });
  const { gateway } = world;
  const scopes = ['environment:records:read'];
  const body = { environment_id: world.environmentId, display_name: 'records', scopes };
  const made = await gateway.call('POST', '/environment/api-keys', {
    key: gateway.accountKey,
    body,
  });
  customKey = succeeded(made).data.secret as string;
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a service that is stopped and started', () => {
  it('has everything it had', async () => {
    crm.account.contacts = Array.from({ length: 30 }, (_, n) => ({ id: `c-${n}`, name: 'Ann' }));
    await crm.run('contacts');
    const before = await crm.all('Contact');
    const shown = await crm.shown();
    expect(await world.restart()).toBe(0);

    expect(await crm.all('Contact')).toEqual(before);
    const { last_fetched_at: _, ...known } = shown;
    expect(await crm.shown()).toMatchObject(known);
    const cursor = before.at(-1)!._svc_metadata.cursor;
    const read = { key: customKey, headers: crm.headers };
    const after = await world.gateway.call(
      'GET',
      `/records?model=Contact&cursor=${encodeURIComponent(cursor)}`,
      read,
    );
    expect(after).toMatchObject({ status: 200, body: { records: [], next_cursor: null } });
    expect((await crm.action('echo', 'still here')).body).toBe('still here');
    expect(await crm.run('contacts')).toMatchObject({
      responseResults: { added: 0, updated: 0, deleted: 0 },
    });
    crm.account.contacts.push({ id: 'c-new', name: 'Ann' });
    await crm.run('contacts');
    const [added, ...more] = await crm.all('Contact', cursor);
    expect([added?.id, more]).toEqual(['c-new', []]);
  });

  it('goes on with a run where it was', async () => {
    await crm.trigger('stepwise');
    crm.account.openSteps(2);
    await crm.account.came('/steps/3');
    expect(await world.restart()).toBe(0);
    await crm.account.came('/steps/3', 2);
    expect(await crm.status('stepwise')).toMatchObject({
      status: 'RUNNING',
      checkpoint: { done: 2 },
    });
    crm.account.openSteps(6);
    expect(await crm.webhook('stepwise', 1)).toMatchObject({
      success: true,
      responseResults: { added: 6, updated: 0, deleted: 0 },
    });
    const steps = await crm.all('Step');
    expect(steps.map(({ id, attemptOf }) => [id, attemptOf])).toEqual([
      ['step-1', 0],
      ['step-2', 0],
      ['step-3', 2],
      ['step-4', 2],
      ['step-5', 2],
      ['step-6', 2],
    ]);
    const asked = crm.account.asked.filter(({ path }) => path === '/steps/1');
    expect(asked).toHaveLength(1);
  });

  it('finishes an action that is under way', async () => {
    crm.account.openSteps(0);
    const asked = crm.account.asked.filter(({ path }) => path === '/steps/9').length;
    const answer = crm.action('request', { endpoint: '/steps/9' });
    await crm.account.came('/steps/9', asked + 1);
    const stopped = world.restart();
    crm.account.openSteps(9);
    expect((await answer).body).toEqual({ status: 200, data: { step: 9 } });
    expect(await stopped).toBe(0);
  });

  it('loses nothing that was acknowledged when it is killed in the middle', async () => {
    crm.account.openSteps(3);
    await crm.trigger('stepwise', { opts: { reset: true, emptyCache: true } });
    await crm.account.came('/steps/4', 2);
    world.gateway.process.kill('SIGKILL');
    expect(await world.restart()).toBeNull();
    expect(await crm.status('stepwise')).toMatchObject({
      status: 'RUNNING',
      checkpoint: { done: 3 },
    });
    const steps = await crm.all('Step');
    expect(steps.map(({ id }) => id)).toEqual(['step-1', 'step-2', 'step-3']);
    expect(await crm.all('Contact')).toHaveLength(31);
    expect((await crm.action('echo', 1)).body).toBe(1);
  });
});

/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysLater } from '#test/support/processes/days-later.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { deployOnEvent } from '#test/support/worlds/on-event.ts';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

/** So late that the lost process no longer holds a lease, and so early that what it validated is still awaited. */
let minutes = 0;
const later = () => daysLater((minutes += 5) / (24 * 60));

const timesAsked = ({ account }: CrmConnection, path: string): number =>
  account.asked.filter((one) => one.path === path).length;

it('an action whose process was killed is not run again under the same Idempotency-Key', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const ask = () => crm.action('request', { endpoint: '/steps/1' }, key);
  const lost = ask().catch(() => null);
  await crm.account.came('/steps/1');
  world.gateway.process.kill('SIGKILL');
  expect(await lost).toBeNull();
  await world.restart(undefined, later());
  crm.account.openSteps(1);
  for (const answer of [await ask(), await ask()]) {
    expect(answer.status).toBe(503);
    expect(answer.body.error.code).toBe('run_interrupted');
  }
  expect(timesAsked(crm, '/steps/1')).toBe(1);
  const other = await crm.action(
    'request',
    { endpoint: '/steps/1' },
    { 'idempotency-key': randomUUID() },
  );
  expect(other).toMatchObject({ status: 200, body: { data: { step: 1 } } });
});

it('a caller that disconnects and repeats its request with the same key gets the outcome', async () => {
  const leaving = new AbortController();
  const { gateway } = world;
  const sent = {
    method: 'POST',
    headers: {
      ...crm.headers,
      authorization: `Bearer ${gateway.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ action_name: 'request', input: { endpoint: '/steps/2' } }),
  };
  const url = `${gateway.url}/action/trigger`;
  const gone = fetch(url, { ...sent, signal: leaving.signal }).catch(() => null);
  await crm.account.came('/steps/2');
  leaving.abort();
  expect(await gone).toBeNull();
  const again = fetch(url, sent);
  crm.account.openSteps(2);
  expect(await (await again).json()).toEqual({ status: 200, data: { step: 2 } });
  expect(timesAsked(crm, '/steps/2')).toBe(1);
});

describe('a function of an event whose process was killed', () => {
  /** Sends the request, kills the process while the function asks for the step, and sends it twice again. */
  async function repeated(
    account: CrmConnection['account'],
    step: number,
    ask: () => Promise<Answer>,
  ) {
    const lost = ask().catch(() => null);
    await account.came(`/steps/${step}`);
    world.gateway.process.kill('SIGKILL');
    expect(await lost).toBeNull();
    await world.restart(undefined, later());
    account.openSteps(step);
    return [await ask(), await ask()];
  }

  it('before a deletion is not run again under the same key, and the connection stays', async () => {
    const leaving = await world.connect();
    await deployOnEvent(
      world,
      'pre-connection-deletion',
      `await svc.get({ endpoint: '/steps/3' });`,
    );
    const path = `/connections/${leaving.id}?provider_config_key=crm`;
    const ask = (key: string) => () =>
      world.gateway.call('DELETE', path, { headers: { 'idempotency-key': key } });
    for (const answer of await repeated(leaving.account, 3, ask(randomUUID()))) {
      expect([answer.status, answer.body.error.code]).toEqual([503, 'run_interrupted']);
    }
    expect(timesAsked(leaving, '/steps/3')).toBe(1);
    expect((await world.gateway.call('GET', path)).status).toBe(200);
    expect((await ask(randomUUID())()).status).toBe(200);
    expect(timesAsked(leaving, '/steps/3')).toBe(2);
  });

  it('that validates is not run again under the same key, and no connection is left', async () => {
    const id = `c-${randomUUID()}`;
    const account = world.provider.account(id);
    await deployOnEvent(world, 'validate-connection', `await svc.get({ endpoint: '/steps/4' });`);
    const ask = (key: string) => () =>
      world.gateway.call('POST', '/connections', {
        headers: { 'idempotency-key': key },
        body: {
          provider_config_key: 'crm',
          connection_id: id,
          connection_config: { account: id },
          credentials: { type: 'API_KEY', apiKey: world.provider.apiKey },
        },
      });
    for (const answer of await repeated(account, 4, ask(randomUUID()))) {
      expect([answer.status, answer.body.error.code]).toEqual([503, 'run_interrupted']);
    }
    const asked = () => account.asked.filter(({ path }) => path === '/steps/4').length;
    expect(asked()).toBe(1);
    const path = `/connections/${id}?provider_config_key=crm`;
    expect((await world.gateway.call('GET', path)).status).toBe(404);
    expect((await ask(randomUUID())()).status).toBe(201);
    expect(asked()).toBe(2);
  });

  it('after a creation is not run again', async () => {
    await deployOnEvent(
      world,
      'post-connection-creation',
      `await svc.get({ endpoint: '/steps/5' });`,
    );
    const made = await world.connect();
    await made.account.came('/steps/5');
    world.gateway.process.kill('SIGKILL');
    await world.restart(undefined, later());
    made.account.openSteps(5);
    const path = `/runs?connection_id=${made.id}&kind=on-event`;
    const runs = await eventually(
      async () => succeeded(await world.gateway.call('GET', path)).data as { status: string }[],
      ([run]) => run !== undefined && run.status !== 'running',
    );
    expect(runs).toMatchObject([{ status: 'interrupted', error: { code: 'run_interrupted' } }]);
    expect(timesAsked(made, '/steps/5')).toBe(1);
  });
});

/* eslint-disable @typescript-eslint/no-unsafe-member-access -- a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '../support/crm-world.ts';
import { daysLater } from '../support/days-later.ts';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

it('an action whose process was killed is not run again under the same Idempotency-Key', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const ask = () => crm.action('request', { endpoint: '/steps/1' }, key);
  const lost = ask().catch(() => null);
  await crm.account.came('/steps/1');
  world.gateway.process.kill('SIGKILL');
  expect(await lost).toBeNull();
  // So late that the lost process holds nothing any more.
  await world.restart(undefined, daysLater(0.01));
  crm.account.openSteps(1);
  for (const answer of [await ask(), await ask()]) {
    expect(answer.status).toBe(503);
    expect(answer.body.error.code).toBe('run_interrupted');
  }
  expect(crm.account.asked.filter(({ path }) => path === '/steps/1')).toHaveLength(1);
  const other = await crm.action(
    'request',
    { endpoint: '/steps/1' },
    { 'idempotency-key': randomUUID() },
  );
  expect(other).toMatchObject({ status: 200, body: { data: { step: 1 } } });
});

it('who goes away and comes back with the same key gets what came of it', async () => {
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
  expect(crm.account.asked.filter(({ path }) => path === '/steps/2')).toHaveLength(1);
});

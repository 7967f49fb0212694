/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import '#test/support/processes/with-services.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '#test/support/worlds/crm-world.ts';
import { deployOnEvent } from '#test/support/worlds/on-event.ts';

const ownerRoles = { SVC_ROLES: 'owner,projector,webhooks' };
const runnerRole = { SVC_ROLES: 'runner' };

let clickhouse: ClickHouseFront;
let world: CrmWorld;
let crm: CrmConnection;
let owner: RunningGateway;
let runner: RunningGateway;
/** In place of those that were killed. */
const started: RunningGateway[] = [];
beforeAll(async () => {
  clickhouse = await startClickHouseFront();
  const env = { SVC_CLICKHOUSE_URL: clickhouse.url, SVC_ROLES: 'api' };
  world = await openCrmWorld({ env, beside: [ownerRoles, runnerRole] });
  [owner, runner] = world.beside as [RunningGateway, RunningGateway];
  crm = await world.connect();
});
afterAll(async () => {
  for (const one of started) await one.stop();
  await world[Symbol.asyncDispose]();
  await clickhouse[Symbol.asyncDispose]();
});

async function kill(one: RunningGateway): Promise<void> {
  one.process.kill('SIGKILL');
  await one.exited;
}

async function startInPlace(roles: Readonly<Record<string, string>>): Promise<RunningGateway> {
  const one = await world.startAnother(roles);
  started.push(one);
  return one;
}

const askedOf = (step: number) =>
  crm.account.asked.filter(({ path }) => path === `/steps/${step}`).length;
const action = (step: number, key: string) =>
  crm.action('request', { endpoint: `/steps/${step}` }, { 'idempotency-key': key });
const result = (step: number) => ({ status: 200, body: { status: 200, data: { step } } });

it('an action whose API process was killed goes on, and its caller gets the result with the same key', async () => {
  const key = randomUUID();
  const lost = action(1, key).catch(() => null);
  await crm.account.came('/steps/1');
  await kill(world.gateway);
  expect(await lost).toBeNull();
  await world.restart();
  crm.account.openSteps(1);
  for (const answer of [await action(1, key), await action(1, key)]) {
    expect(answer).toMatchObject(result(1));
  }
  expect(askedOf(1)).toBe(1);
});

it('an action that ends while its API process is away has its result for the same key', async () => {
  const key = randomUUID();
  const lost = action(2, key).catch(() => null);
  await crm.account.came('/steps/2');
  await kill(world.gateway);
  expect(await lost).toBeNull();
  crm.account.openSteps(2);
  await world.restart();
  expect(await action(2, key)).toMatchObject(result(2));
  expect(askedOf(2)).toBe(1);
});

it('an action whose owner was killed ends as it would have, once', async () => {
  const key = randomUUID();
  const asked = action(3, key);
  await crm.account.came('/steps/3');
  await kill(owner);
  crm.account.openSteps(3);
  owner = await startInPlace(ownerRoles);
  for (const answer of [await asked, await action(3, key)]) {
    expect(answer).toMatchObject(result(3));
  }
  expect(askedOf(3)).toBe(1);
});

it('a function before a deletion whose API process was killed goes on, and is begun once', async () => {
  const leaving = await world.connect();
  await deployOnEvent(world, 'pre-connection-deletion', `await svc.get({ endpoint: '/steps/5' });`);
  const path = `/connections/${leaving.id}?provider_config_key=crm`;
  const headers = { 'idempotency-key': randomUUID() };
  const remove = () => world.gateway.call('DELETE', path, { headers });
  const lost = remove().catch(() => null);
  await leaving.account.came('/steps/5');
  await kill(world.gateway);
  expect(await lost).toBeNull();
  await world.restart();
  leaving.account.openSteps(5);
  for (const answer of [await remove(), await remove()]) {
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
  }
  expect(leaving.account.asked.filter(({ path: of }) => of === '/steps/5')).toHaveLength(1);
});

it('an action whose runner was killed is not run again under the same key, though another has its work', async () => {
  const key = randomUUID();
  const asked = action(6, key);
  await crm.account.came('/steps/6');
  await kill(runner);
  runner = await startInPlace(runnerRole);
  crm.account.openSteps(6);
  for (const { status, body } of [await asked, await action(6, key)]) {
    expect([status, body.error.code]).toEqual([503, 'run_interrupted']);
  }
  expect(askedOf(6)).toBe(1);
  expect(await action(6, randomUUID())).toMatchObject(result(6));
  expect(askedOf(6)).toBe(2);
});

/* eslint-disable @typescript-eslint/no-unsafe-member-access -- a test looks into any answer */
import '../support/with-services.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startClickHouseFront, type ClickHouseFront } from '../support/clickhouse-front.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '../support/crm-world.ts';

let clickhouse: ClickHouseFront;
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  clickhouse = await startClickHouseFront();
  const env = { SVC_CLICKHOUSE_URL: clickhouse.url };
  world = await openCrmWorld({
    env: { ...env, SVC_ROLES: 'api' },
    beside: [{ SVC_ROLES: 'owner,projector,webhooks' }, { SVC_ROLES: 'runner' }],
  });
  crm = await world.connect();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await clickhouse[Symbol.asyncDispose]();
});

const askedOf = (step: number) =>
  crm.account.asked.filter(({ path }) => path === `/steps/${step}`).length;
const action = (step: number, key: string) =>
  crm.action('request', { endpoint: `/steps/${step}` }, { 'idempotency-key': key });

it('an action whose API process was killed goes on, and its caller gets the result with the same key', async () => {
  const key = randomUUID();
  const lost = action(1, key).catch(() => null);
  await crm.account.came('/steps/1');
  world.gateway.process.kill('SIGKILL');
  expect(await lost).toBeNull();
  await world.restart();
  crm.account.openSteps(1);
  for (const { status, body } of [await action(1, key), await action(1, key)]) {
    expect({ status, body: body as unknown }).toEqual({
      status: 200,
      body: { status: 200, data: { step: 1 } },
    });
  }
  expect(askedOf(1)).toBe(1);
});

it('an action whose runner was killed is not run again under the same key', async () => {
  const key = randomUUID();
  const asked = action(2, key);
  await crm.account.came('/steps/2');
  const runner = world.beside[1]!;
  runner.process.kill('SIGKILL');
  await runner.exited;
  for (const { status, body } of [await asked, await action(2, key)]) {
    expect([status, body.error.code]).toEqual([503, 'run_interrupted']);
  }
  expect(askedOf(2)).toBe(1);
});

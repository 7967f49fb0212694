import '#test/support/processes/with-services.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#test/services/ports.ts';
import { serviceUrl } from '#test/services/url.ts';
import { startGate, type Gate } from '#test/support/fakes/gate.ts';
import { deploymentEnv } from '#test/support/processes/deployment.ts';
import { startGateway } from '#test/support/processes/gateway.ts';
import { probed } from '#test/support/processes/probe.ts';
import { recoverKey } from '#test/support/processes/starts.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '#test/support/worlds/crm-world.ts';

let gates: readonly Gate[] = [];
let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  gates = await Promise.all(
    (['kafka', 'registry', 'redis'] as const).map((name) => startGate(serviceUrl(name))),
  );
  const [kafka, registry, redis] = gates.map(({ url }) => url) as [string, string, string];
  const env = { SVC_LOG_URL: kafka, SVC_REGISTRY_URL: registry, SVC_REDIS_URL: redis };
  const opening = openCrmWorld({ env });
  const ended = opening.then(
    () => undefined,
    () => undefined,
  );
  for (const gate of gates) {
    // It has come to the server and found it away; a start that gives up fails below.
    await Promise.race([gate.refused(), ended]);
    gate.open();
  }
  world = await opening;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  for (const gate of gates) await gate[Symbol.asyncDispose]();
});

async function works(name: string): Promise<void> {
  crm.account.contacts = [{ id: 'c-1', name }];
  expect((await crm.run('contacts')).success).toBe(true);
  expect((await crm.all('Contact')).map((record) => record.name)).toEqual([name]);
  expect((await crm.action('echo', name)).body).toBe(name);
}

describe('a start', () => {
  it('of the API is ready with the keys that an owner has made, and takes one that was recovered', async () => {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'svc-first-start-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const dataDir = join(folder, 'api');
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const opening = startGateway({ dataDir, env: { SVC_ROLES: 'api', SVC_PORT: String(port) } });
    stack.defer(() => opening.then((api) => api.stop()));
    expect(await probed(`${base}/ready`)).toBe(503);
    const env = { ...deploymentEnv(dataDir), SVC_ROLES: 'owner' };
    const owner = stack.use(await startGateway({ dataDir: join(folder, 'owner'), env }));
    while ((await probed(`${base}/ready`)) !== 200);
    const statuses = await Promise.all([
      probed(`${base}/connections`, owner.key),
      probed(`${base}/connections`, owner.prodKey),
      probed(`${base}/environments`, owner.accountKey),
    ]);
    expect(statuses).toEqual([200, 200, 200]);
    const recovered = await recoverKey(join(folder, 'another'), deploymentEnv(dataDir));
    expect(recovered.out).toMatch(/^svc_acct_\S{43}\n$/);
    expect(await probed(`${base}/environments`, recovered.out.trim())).toBe(200);
  });

  it('of a new installation waits for Kafka, the registry and Redis', async () => {
    crm = await world.connect();
    await works('Ada');
  });

  it('of one that has its keys needs no Redis, to be ready and to work', async () => {
    const redis = gates[2]!;
    await world.restart(() => {
      redis.close();
      return Promise.resolve();
    });
    await redis.refused();
    const ready = await world.gateway.call('GET', '/ready', { key: null });
    expect([ready.status, ready.body]).toEqual([200, { result: 'ok' }]);
    await works('Bo');
    redis.open();
    await redis.passed();
    await works('Cy');
  });
});

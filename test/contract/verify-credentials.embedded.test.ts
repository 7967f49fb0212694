import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPublisher } from '#control-plane/publisher.ts';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { openFakeAuth } from '#fake-providers/server.ts';
import { dayMs, type Clock } from '#kernel/time.ts';
import { bootstrap } from '#modules/access/environments/handlers.ts';
import { importConnection } from '#modules/connections/connections/handlers.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import { createRefresher } from '#modules/connections/connections/refresh.ts';
import type { Connection, Credentials } from '#modules/connections/connections/state.ts';
import {
  startTokenRefreshes,
  reverifyCredentials,
} from '#modules/connections/connections/token-refresh.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { createOperationLogs } from '#modules/operations/logs/operation-log.ts';
import { givenOrders } from '#test/support/fakes/orders.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';
import { aProvider, openControlWorld, silent } from '#test/support/worlds/control.ts';

const options = { actor: 'system' };
const noSecrets = { accountKey: null, keyDev: null, keyProd: null };

/** A clock that a test moves. */
let aheadMs = 0;
const clock: Clock = {
  now: () => Date.now() + aheadMs,
  nowMicros: () => (Date.now() + aheadMs) * 1000,
};

let stack: AsyncDisposableStack;
let played: PlayedProvider;
let find: () => Connection;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  aheadMs = 0;
  const fake = stack.use(await openFakeAuth());
  played = fake.play(
    aProvider({
      credentials: { apiKey: { type: 'string', title: 'Key', description: 'Key', secret: true } },
      proxy: {
        base_url: 'https://api.crm.example',
        headers: { 'x-key': '${apiKey}' },
        verification: { endpoints: ['/me'] },
      },
    }),
  );
  await openWorld();
});
afterEach(() => stack.disposeAsync());

/** One node with the reactor, and a connection whose key the provider takes. */
async function openWorld(): Promise<void> {
  const world = stack.use(await openControlWorld({ clock }));
  stack.use(await world.startOwners());
  const node = stack.use(await world.startNode());
  const { control, vault } = node;
  const { log, embedded } = world;
  const { schemas } = embedded;
  const publisher = createPublisher({ log, schemas, clock });
  const provider = played.definition;
  const services = {
    ...node,
    http: stack.use(await openHttpClient()),
    providers: { find: () => provider, all: () => [provider] },
    logs: stack.use(createOperationLogs({ publisher, logger: silent, clock })),
    clock,
  };
  const refresher = createRefresher(services);
  const made = await bootstrap(node, noSecrets);
  const environmentUid = made?.environments[0]?.uid ?? '';
  await createIntegration(node, { environmentUid, uniqueKey: 'crm', provider }, options);
  const credentials = played.importable() as Credentials;
  const held = { credentials, expiresAt: null };
  const named = { environmentUid, integrationKey: 'crm', connectionId: 'acme', provider };
  await importConnection({ control, vault }, { ...named, credentials: held }, options);
  const found = (): Connection | null => findConnection(control, environmentUid, 'crm', 'acme');
  find = () => {
    const connection = found();
    if (connection === null) throw new Error('no connection');
    return connection;
  };
  const retest = (connection: Connection) =>
    reverifyCredentials({ ...services, refresher }, connection);
  const deps = { log, schemas, control, refresher, retest };
  stack.use(
    await startTokenRefreshes({ ...deps, logger: silent, operatorRequests: givenOrders() }),
  );
}

const asked = (count: number) =>
  vi.waitUntil(() => played.asked.length === count, { timeout: 20_000 });
const waitFor = (isSo: (connection: Connection) => boolean) =>
  vi.waitUntil(() => isSo(find()), { timeout: 20_000 });

describe('a stored key that nobody fetches', () => {
  it('is tried each day: refused, it is an error of the connection until it is taken again', async () => {
    aheadMs = dayMs + 1000;
    await asked(1);
    expect(played.asked[0]).toMatchObject({ method: 'GET', outcome: 'granted' });
    expect(find().errors).toEqual([]);

    played.plan('api', { status: 503, body: {} });
    aheadMs += dayMs;
    await asked(2);
    expect(find()).toMatchObject({ errors: [], refresh: { failureDays: 0 } });

    played.plan('api', { status: 401, body: { error: 'revoked' } });
    aheadMs += dayMs;
    await waitFor(({ errors }) => errors.length === 1);
    expect(find()).toMatchObject({ errors: [{ type: 'auth' }], refresh: { failureDays: 1 } });

    aheadMs += dayMs;
    await waitFor(({ errors }) => errors.length === 0);
    expect(find().refresh).toMatchObject({ failedAt: null, failureDays: 0 });
  });
});

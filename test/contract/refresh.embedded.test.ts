import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { createPublisher } from '#control-plane/publisher.ts';
import { minuteMs, type Clock } from '#kernel/time.ts';
import { bootstrap } from '#modules/access/environments/handlers.ts';
import { importConnection, storeCredentials } from '#modules/connections/connections/handlers.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import { createRefresher, type RefreshDeps } from '#modules/connections/connections/refresh.ts';
import type { Refresher } from '#modules/connections/connections/refresher.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { startTokenRefreshes } from '#modules/connections/connections/token-refresh.ts';
import { openCredentials } from '#modules/connections/credentials/sealing.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { createOperationLogs } from '#modules/operations/logs/operation-log.ts';
import { authEventOf, type AuthEvent } from '#modules/webhooks/webhooks-out/auth-webhooks.ts';
import type { CredentialsChanged } from '#streams/values.ts';
import {
  invalidGrant,
  openFakeTokenEndpoint,
  type FakeTokenEndpoint,
} from '#test/support/fakes/fake-token-endpoint.ts';
import { givenOrders } from '#test/support/fakes/orders.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';
import {
  aProvider,
  everythingOn,
  openControlWorld,
  silent,
  type ControlNode,
  type ControlWorld,
} from '#test/support/worlds/control.ts';
import { readAll } from '#test/support/worlds/log.ts';

const options = { actor: 'system' };
const noSecrets = { accountKey: null, keyDev: null, keyProd: null };

/** A clock that a test moves: the owners and the nodes follow it. */
let aheadMs = 0;
const clock: Clock = {
  now: () => Date.now() + aheadMs,
  nowMicros: () => (Date.now() + aheadMs) * 1000,
};

interface Node {
  readonly control: ControlNode;
  readonly refresher: Refresher;
  find(): Connection;
}

let stack: AsyncDisposableStack;
let world: ControlWorld;
let endpoint: FakeTokenEndpoint;
let environmentUid: string;
let nodes: Node[];
let connectionId: string;

async function startNode(more: Partial<RefreshDeps> = {}): Promise<Node> {
  const control = stack.use(await world.startNode());
  const publisher = createPublisher({ log: world.log, schemas: world.embedded.schemas, clock });
  const provider = providerOf(endpoint);
  const refresher = createRefresher({
    ...control,
    http: stack.use(await openHttpClient()),
    providers: { find: () => provider, all: () => [provider] },
    logs: stack.use(createOperationLogs({ publisher, logger: silent, clock })),
    logger: silent,
    clock,
    ...more,
  });
  const find = () => {
    const found = findConnection(control.control, environmentUid, 'crm', connectionId);
    if (found === null) throw new Error('no connection');
    return found;
  };
  return { control, refresher, find };
}

/** A node that stops for ever at the point; its lease ended with its own Coordination. */
const startDying = (point: string): Promise<Node> =>
  startNode({
    coordination: openInProcessCoordination(),
    faultPoint: (name) => (name === point ? new Promise<never>(() => undefined) : undefined),
  });

const providerOf = ({ url }: FakeTokenEndpoint) =>
  aProvider({ auth_mode: 'OAUTH2', authorization_url: url, token_url: url });

async function openWorld({ isRotating }: { readonly isRotating: boolean }): Promise<void> {
  endpoint = stack.use(await openFakeTokenEndpoint({ isRotating }));
  world = stack.use(await openControlWorld({ clock }));
  stack.use(await world.startOwners());
  nodes = [await startNode(), await startNode(), await startNode()];
  const [node] = nodes as [Node];
  const made = await bootstrap(node.control, noSecrets);
  environmentUid = made?.environments[0]?.uid ?? '';
  const provider = providerOf(endpoint);
  const { clientId: client_id, clientSecret: client_secret } = endpoint;
  const credentials = { type: 'OAUTH2', client_id, client_secret };
  const integration = { environmentUid, uniqueKey: 'crm', provider, credentials };
  await createIntegration(node.control, integration, options);
  connectionId = randomUUID();
  const expiresAt = clock.now() + 60 * minuteMs;
  const wanted = {
    environmentUid,
    integrationKey: 'crm',
    connectionId,
    provider,
    credentials: {
      credentials: {
        type: 'OAUTH2',
        access_token: 'at-first',
        refresh_token: endpoint.newFamily(),
        raw: {},
      },
      expiresAt,
    },
  };
  await importConnection(node.control, wanted, options);
  await Promise.all(nodes.map(({ control }) => control.control.view.caughtUp()));
}

const tokenOf = async ({ control }: Node, connection: Connection) =>
  (await openCredentials(control.vault, connection))['access_token'];

/** The webhooks that the application gets about refreshes of the connection. */
async function authWebhooks(): Promise<AuthEvent[]> {
  const topic = 'svc.credentials.v1';
  const { log, embedded } = world;
  const codec = await embedded.schemas.codec<CredentialsChanged>(topic);
  const changes: CredentialsChanged[] = [];
  for (let partition = 0; partition < (await log.partitions(topic)); partition++) {
    for (const { value } of await readAll(log, topic, partition)) {
      if (value !== null) changes.push(codec.decode(value));
    }
  }
  return changes.flatMap((change) => {
    const event = authEventOf(change);
    return event?.operation === 'refresh' ? [event] : [];
  });
}

const outcomes = () => endpoint.grants.map(({ outcome }) => outcome);

beforeEach(() => {
  stack = new AsyncDisposableStack();
  aheadMs = 0;
});
afterEach(() => stack.disposeAsync());

describe('a connection of a provider that rotates refresh tokens', () => {
  beforeEach(() => openWorld({ isRotating: true }));

  it('is not refreshed while it is fresh: a quarter of its lifetime before the end at most', async () => {
    const [node] = nodes as [Node];
    aheadMs = 44 * minuteMs;
    await node.refresher.fresh(node.find());
    expect(endpoint.grants).toEqual([]);
    aheadMs = 46 * minuteMs;
    expect(await tokenOf(node, await node.refresher.fresh(node.find()))).toMatch(/^at-[0-9a-f]/);
    expect(outcomes()).toEqual(['granted']);
  });

  it('is refreshed exactly once by 1,000 fetches over three nodes, and all get the new token', async () => {
    aheadMs = 61 * minuteMs;
    const fetches = Array.from({ length: 1000 }, async (_, at) => {
      const node = nodes[at % nodes.length] as Node;
      return tokenOf(node, await node.refresher.fresh(node.find()));
    });
    const tokens = new Set(await Promise.all(fetches));
    expect(outcomes()).toEqual(['granted']);
    expect(tokens.size).toBe(1);
    expect([...tokens][0]).not.toBe('at-first');
  });

  it('goes on with the refresh token that it was given last', async () => {
    const [node] = nodes as [Node];
    for (const hours of [1, 2, 3]) {
      aheadMs = hours * 61 * minuteMs;
      await node.refresher.fresh(node.find());
    }
    expect(outcomes()).toEqual(['granted', 'granted', 'granted']);
    expect(node.find().refresh.rotatesToken).toBe(true);
  });

  it('whose refresher died before it said so is refreshed by another node', async () => {
    const died = await startDying('refresh:before-intent');
    aheadMs = 61 * minuteMs;
    void died.refresher.fresh(died.find()).catch(() => undefined);
    const [node] = nodes as [Node];
    const fetched = await Promise.all(nodes.map((each) => each.refresher.fresh(each.find())));
    expect(new Set(fetched.map(({ credentialsVersion }) => credentialsVersion))).toEqual(
      new Set([2]),
    );
    expect(outcomes()).toEqual(['granted']);
    expect(node.find().errors).toEqual([]);
  });

  it('whose refresher died after it said so never shows the token again', async () => {
    const died = await startDying('refresh:after-intent');
    aheadMs = 61 * minuteMs;
    void died.refresher.fresh(died.find()).catch(() => undefined);
    const [, other, third] = nodes as [Node, Node, Node];
    await vi.waitUntil(() => other.find().refresh.intent !== null);
    aheadMs += 16_000;
    const fetches = [other, third].map((each) => each.refresher.fresh(each.find()));
    for (const fetched of await Promise.allSettled(fetches)) {
      expect(fetched).toMatchObject({ status: 'rejected', reason: { status: 424 } });
    }
    expect(endpoint.grants).toEqual([]);
    expect(other.find().errors).toMatchObject([{ type: 'auth' }]);
  });

  it('without a refresh token is served as it is, while others hold the lease, too', async () => {
    const [node] = nodes as [Node];
    const known = node.find();
    const held = await openCredentials(node.control.vault, known);
    const { refresh_token: _none, ...credentials } = held;
    const stored = await storeCredentials(
      node.control,
      known,
      { credentials: { ...credentials, type: 'OAUTH2' }, expiresAt: clock.now() - minuteMs },
      options,
    );
    await node.control.coordination.acquire(`refresh/${stored.uid}`, { ttlMs: 60 * minuteMs });
    expect(await node.refresher.fresh(stored)).toBe(stored);
    expect(await node.refresher.fresh(stored, { isForced: true })).toBe(stored);
    expect(endpoint.grants).toEqual([]);
  });

  it('that was refused is an error of the connection, and is not tried again for 30 seconds', async () => {
    const [node] = nodes as [Node];
    aheadMs = 61 * minuteMs;
    endpoint.plan(invalidGrant);
    await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    expect(node.find().errors).toMatchObject([{ type: 'auth' }]);
    await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({
      code: 'connection_refresh_backoff',
    });
    expect(endpoint.grants).toHaveLength(1);
    aheadMs += 31_000;
    const fresh = await node.refresher.fresh(node.find());
    expect(fresh.errors).toEqual([]);
  });

  it('whose provider is away keeps its credentials without an error, and waits', async () => {
    const [node] = nodes as [Node];
    aheadMs = 61 * minuteMs;
    endpoint.plan(503);
    await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({
      code: 'connection_refresh_backoff',
      status: 424,
      details: { retryAfterS: 30 },
    });
    expect(node.find()).toMatchObject({ errors: [], refresh: { intent: null, failureDays: 0 } });
    aheadMs += 31_000;
    expect((await node.refresher.fresh(node.find())).credentialsVersion).toBe(2);
  });

  it('whose provider is away is served with what it has while that still works', async () => {
    const [node] = nodes as [Node];
    aheadMs = 50 * minuteMs;
    endpoint.plan(503);
    expect(await tokenOf(node, await node.refresher.fresh(node.find()))).toBe('at-first');
    expect(outcomes()).toEqual(['planned']);
    const forced = node.refresher.fresh(node.find(), { rejectedVersion: 1 });
    await expect(forced).rejects.toMatchObject({ code: 'connection_refresh_backoff' });
  });

  it.each([
    ['400 temporarily_unavailable', { status: 400, body: '{"error":"temporarily_unavailable"}' }],
    [
      '400 of a provider that is asked too early',
      {
        status: 400,
        body: '{"error":"access_denied","error_description":"Rate limit exceeded: access_token not expired"}',
      },
    ],
    ['400 without a code', { status: 400, body: '' }],
    ['403 with HTML', { status: 403, body: '<h1>Forbidden</h1>' }],
    ['302 elsewhere', { status: 302, headers: { location: 'https://elsewhere.example/' } }],
    ['307 to another host', { status: 307, headers: { location: 'https://elsewhere.example/' } }],
    ['200 with ok: false', { status: 200, body: '{"ok":false,"error":"ratelimited"}' }],
    ['200 with invalid JSON', { status: 200, body: '{"access_token":"a' }],
    ['an empty body', { status: 200, body: '' }],
    ['429', { status: 429, body: '{"error":"invalid_grant"}' }],
    ['503', { status: 503, body: '{"error":"invalid_grant"}' }],
  ])('a failure that may pass leaves a valid token in use: %s', async (_, answer) => {
    const [node] = nodes as [Node];
    aheadMs = 50 * minuteMs;
    endpoint.plan(answer);
    expect(await tokenOf(node, await node.refresher.fresh(node.find()))).toBe('at-first');
    expect(node.find()).toMatchObject({ errors: [], refresh: { intent: null, failureDays: 0 } });
    expect(await authWebhooks()).toEqual([]);
    aheadMs = 61 * minuteMs;
    endpoint.plan(answer);
    await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({
      code: 'connection_refresh_backoff',
    });
    expect(node.find()).toMatchObject({ errors: [], refresh: { failureDays: 0 } });
    expect(await authWebhooks()).toEqual([]);
    aheadMs += 31_000;
    expect((await node.refresher.fresh(node.find())).credentialsVersion).toBe(2);
    expect(await authWebhooks()).toEqual([]);
  });

  it.each([
    ['400 that refuses the client', { status: 400, body: '{"error":"unauthorized_client"}' }],
    ['401 without a code', { status: 401, body: '{}' }],
  ])('an error only once the token has expired: %s', async (_, answer) => {
    const [node] = nodes as [Node];
    aheadMs = 50 * minuteMs;
    endpoint.plan(answer);
    expect(await tokenOf(node, await node.refresher.fresh(node.find()))).toBe('at-first');
    expect(node.find().errors).toEqual([]);
    aheadMs = 61 * minuteMs;
    endpoint.plan(answer);
    await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    expect(node.find().errors).toMatchObject([{ type: 'auth' }]);
  });

  it.each([
    ['invalid_grant', invalidGrant],
    ['bad_refresh_token in 200', { status: 200, body: '{"error":"bad_refresh_token"}' }],
    [
      'ok: false with invalid_refresh_token',
      { status: 200, body: '{"ok":false,"error":"invalid_refresh_token"}' },
    ],
    ['a client that is refused', { status: 401, body: '{"error":"invalid_client"}' }],
  ])('a definitive refusal is an error while the token is valid: %s', async (_, answer) => {
    const [node] = nodes as [Node];
    aheadMs = 50 * minuteMs;
    endpoint.plan(answer);
    await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    expect(node.find().errors).toMatchObject([{ type: 'auth' }]);
    expect(await authWebhooks()).toMatchObject([{ operation: 'refresh' }]);
  });

  it('a provider that refuses without a known code for a day is an error', async () => {
    const [node] = nodes as [Node];
    const refuse = async (minutes: number) => {
      aheadMs = minutes * minuteMs;
      endpoint.plan({ status: 403, body: '<h1>Forbidden</h1>' });
      await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({});
    };
    await refuse(61);
    await refuse(24 * 60);
    expect(node.find().errors).toEqual([]);
    await refuse(61 + 24 * 60);
    expect(node.find().errors).toMatchObject([{ type: 'auth' }]);
  });

  it.each([307, 308])('follows a %i on the same host with the body', async (status) => {
    const [node] = nodes as [Node];
    aheadMs = 61 * minuteMs;
    endpoint.plan({ status, headers: { location: '/v2/token' } });
    expect((await node.refresher.fresh(node.find())).credentialsVersion).toBe(2);
    expect(outcomes()).toEqual(['planned', 'granted']);
    expect(endpoint.grants[1]?.refreshToken).toBe(endpoint.grants[0]?.refreshToken);
  });

  it('is exhausted after four days of failures; only force still tries', async () => {
    const [node] = nodes as [Node];
    for (const day of [1, 2, 3, 4]) {
      aheadMs = day * 24 * 60 * minuteMs;
      endpoint.plan(invalidGrant);
      await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({ status: 400 });
    }
    aheadMs += 24 * 60 * minuteMs;
    await expect(node.refresher.fresh(node.find())).rejects.toMatchObject({
      code: 'connection_refresh_exhausted',
      status: 424,
    });
    const fresh = await node.refresher.fresh(node.find(), { isForced: true });
    expect(fresh).toMatchObject({ errors: [], refresh: { failureDays: 0 } });
  });

  it('that nobody fetches is refreshed a day later, by one of those that would', async () => {
    for (const { control, refresher } of nodes) {
      const { log, embedded } = world;
      const retest = () => Promise.reject(new Error('The credentials expire.'));
      const deps = {
        log,
        schemas: embedded.schemas,
        logger: silent,
        operatorRequests: givenOrders(),
        retest,
      };
      stack.use(await startTokenRefreshes({ ...deps, control: control.control, refresher }));
    }
    const [node] = nodes as [Node];
    aheadMs = 23 * 60 * minuteMs;
    expect(node.find().refresh.askedAt).toBeNull();
    aheadMs = 24 * 60 * minuteMs + 1000;
    await vi.waitUntil(() => node.find().credentialsVersion === 2, { timeout: 20_000 });
    expect(outcomes()).toEqual(['granted']);
    expect(node.find().refresh).toMatchObject({ askedAt: null, failureDays: 0 });
  });

  it('leaves no token on any topic', async () => {
    const [node] = nodes as [Node];
    aheadMs = 61 * minuteMs;
    const token = await tokenOf(node, await node.refresher.fresh(node.find()));
    const everything = await everythingOn(world.log);
    const shown = endpoint.grants.map(({ refreshToken }) => refreshToken);
    for (const secret of [token, endpoint.clientSecret, ...shown]) {
      expect(everything).not.toContain(secret);
    }
  });
});

describe('a connection of a provider that does not rotate', () => {
  beforeEach(() => openWorld({ isRotating: false }));

  it('whose refresher died after it said so is refreshed once more', async () => {
    const [, other] = nodes as [Node, Node, Node];
    aheadMs = 61 * minuteMs;
    await other.refresher.fresh(other.find());
    expect(other.find().refresh.rotatesToken).toBe(false);
    const died = await startDying('refresh:after-intent');
    aheadMs = 125 * minuteMs;
    void died.refresher.fresh(died.find()).catch(() => undefined);
    await vi.waitUntil(() => other.find().refresh.intent !== null);
    aheadMs += 16_000;
    expect((await other.refresher.fresh(other.find())).credentialsVersion).toBe(3);
    expect(outcomes()).toEqual(['granted', 'granted']);
  });
});

/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes, streamRoutes } from '#api/routes.ts';
import { topicSpecs } from '#app/process/topics.ts';
import { isWriting } from '#http/pipeline.ts';
import { limits } from '#kernel/limits.ts';
import {
  openFakeTokenEndpoint,
  type FakeTokenEndpoint,
} from '#test/support/fakes/fake-token-endpoint.ts';
import type { Call, Row } from '#test/support/judges/access/row.ts';
import { served } from '#test/support/judges/access/table.ts';
import {
  ask,
  missing,
  openAccessWorld,
  type AccessWorld,
} from '#test/support/judges/access/world.ts';
import { daysLater } from '#test/support/processes/days-later.ts';
import { openLogOf } from '#test/support/processes/deployment.ts';
import { startGateway, type Answer } from '#test/support/processes/gateway.ts';
import { openCrmWorld, succeeded, type CrmWorld } from '#test/support/worlds/crm-world.ts';

type Served = Row & { readonly call: Call };

const readOnly = { SVC_READ_ONLY: 'yes' };
const later = daysLater(1);
/** Longer than a normal start takes to begin what is due. */
const idleMs = 2_000;
const retryAfter = String(limits.readOnlyRetryMs / 1000);

/** Whether each endpoint writes, as its route says. */
const writing = new Map<string, boolean>([
  ...routes.map((route) => [`${route.method} ${route.path}`, isWriting(route)] as const),
  ...streamRoutes.flatMap((route) =>
    route.methods.map((method) => [`${method} ${route.path}`, isWriting(route)] as const),
  ),
]);
const isWrite = ({ endpoint }: Pick<Row, 'endpoint'>): boolean => writing.get(endpoint) ?? true;

const outcomeOf = ({ status, headers, body }: Answer): string =>
  [status, body?.error?.code ?? '', headers.get('retry-after') ?? ''].join(' ').trimEnd();

/** By topic, where each partition ends: of the log of a gateway that has stopped. */
async function endsOf(dataDir: string): Promise<object> {
  await using opened = await openLogOf(dataDir);
  const { log } = opened;
  const ends = topicSpecs(4).map(async ({ name }) => [name, await log.endOffsets(name)]);
  return Object.fromEntries(await Promise.all(ends)) as object;
}

describe('a gateway that only reads', () => {
  let stack: AsyncDisposableStack;
  let tokens: FakeTokenEndpoint;
  let crm: CrmWorld;
  let world: AccessWorld;
  let connectToken: string;
  let renewed: string;
  let ends: object;

  beforeAll(async () => {
    stack = new AsyncDisposableStack();
    tokens = stack.use(await openFakeTokenEndpoint({ isRotating: true }));
    const { url, hostPort } = tokens;
    const urls = { authorization_url: url, token_url: url };
    const entry = { display_name: 'Renewed', categories: [], docs: 'https://docs.example' };
    const definitions = { renewed: { ...entry, ...urls, auth_mode: 'OAUTH2' } };
    world = stack.use(
      await openAccessWorld(async (options) => {
        crm = await openCrmWorld({ ...options, definitions, hosts: [hostPort] });
        return crm;
      }),
    );
    renewed = await connectRenewed();
    connectToken = await world.makeToken();
    // A webhook that waits for another attempt.
    crm.receiver.answer = () => 503;
    await world.connection.run('contacts');
    await crm.restart(async (dataDir) => {
      ends = await endsOf(dataDir);
    }, readOnly);
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  /** A connection whose token expires half a day from now. */
  async function connectRenewed(): Promise<string> {
    const { clientId: client_id, clientSecret: client_secret } = tokens;
    const credentials = { type: 'OAUTH2', client_id, client_secret };
    const integration = { provider: 'renewed', unique_key: 'renewed', credentials };
    succeeded(await crm.gateway.call('POST', '/integrations', { body: integration }));
    const id = `c-${randomUUID()}`;
    const body = {
      provider_config_key: 'renewed',
      connection_id: id,
      credentials: {
        type: 'OAUTH2',
        access_token: 'first',
        refresh_token: tokens.newFamily(),
        expires_at: new Date(Date.now() + 43_200_000).toISOString(),
      },
    };
    succeeded(await crm.gateway.call('POST', '/connections', { body }));
    return id;
  }

  const shownRenewed = () =>
    crm.gateway.call('GET', `/connections/${renewed}?provider_config_key=renewed`);

  /** The request of the row with a credential that may call it. */
  async function asked(row: Served): Promise<string> {
    const sent = row.call.send(row.call.on === 'present' ? world.present : missing());
    const { key, accountKey } = crm.gateway;
    const keys = { environment: key, account: accountKey, key, connect: connectToken, none: null };
    const inQuery = row.takes === 'connect' && row.tokenIn === 'query';
    const path = inQuery ? `${sent.path}?connect_session_token=${connectToken}` : sent.path;
    return outcomeOf(
      await ask(world, row.endpoint, { ...sent, path }, inQuery ? null : keys[row.takes]),
    );
  }

  async function outcomes(rows: readonly Served[]): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const row of rows) found[row.endpoint] = await asked(row);
    return found;
  }

  const expected = (rows: readonly Served[], of: (row: Served) => string) =>
    Object.fromEntries(rows.map((row) => [row.endpoint, of(row)]));

  it('takes the method for what a route does, but of these', () => {
    const isGet = ({ endpoint }: Row): boolean => endpoint.startsWith('GET ');
    const unusual = served.filter((row) => isGet(row) === isWrite(row));
    expect(unusual.map(({ endpoint }) => endpoint).sort()).toEqual([
      'GET /app-auth/connect',
      'GET /console/oidc/callback',
      'GET /console/oidc/start',
      'GET /environments/{environmentId}/retention',
      'GET /oauth/callback',
      'GET /oauth/connect/{providerConfigKey}',
      'GET /proxy/{path}',
      'GET /webhook/{environmentUuid}/{providerConfigKey}',
      'POST /logs/messages',
      'POST /logs/operations',
      'POST /mcp/management',
      'POST /sql',
    ]);
  });

  it('answers every read', async () => {
    const rows = served.filter((row) => !isWrite(row));
    const found = await outcomes(rows);
    const statuses = Object.fromEntries(
      Object.entries(found).map(([endpoint, outcome]) => [endpoint, outcome.split(' ')[0]]),
    );
    expect(statuses).toEqual(expected(rows, ({ call }) => String(call.status)));
    expect((await world.connection.all('Contact')).map(({ id }) => id)).toEqual(['c-1', 'c-2']);
  });

  it('refuses every write with Retry-After', async () => {
    const rows = served.filter(isWrite);
    expect(await outcomes(rows)).toEqual(expected(rows, () => `503 read_only ${retryAfter}`));
  });

  it('still refuses who may not call first', async () => {
    const answer = await crm.gateway.call('POST', '/integrations', { key: null, body: {} });
    expect(outcomeOf(answer)).toBe('401 missing_auth_header');
  });

  it('refuses what a read would write', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const found = await crm.gateway.call('POST', '/logs/operations', { headers, body: {} });
    expect(outcomeOf(found)).toBe(`503 read_only ${retryAfter}`);
  });

  it('begins nothing that is due, and refreshes no token', async () => {
    expect((await shownRenewed()).body.credentials.access_token).toBe('first');
    await crm.restart(undefined, { ...readOnly, ...later });
    const asked = world.connection.account.asked.length;
    const received = crm.receiver.received.length;
    const refused = outcomeOf(await shownRenewed());
    await sleep(idleMs);
    expect(refused).toBe(`503 read_only ${retryAfter}`);
    expect(tokens.grants).toEqual([]);
    expect(world.connection.account.asked).toHaveLength(asked);
    expect(crm.receiver.received).toHaveLength(received);
  });

  it('has written nothing, and a usual start goes on', async () => {
    crm.receiver.answer = () => 200;
    const { account } = world.connection;
    const pages = account.asked.filter(({ path }) => path.startsWith('/contacts')).length;
    const received = crm.receiver.received.length;
    await crm.restart(async (dataDir) => expect(await endsOf(dataDir)).toEqual(ends), later);
    await account.came('/contacts', pages + 1);
    await crm.receiver.got(received + 1);
    expect((await shownRenewed()).body.credentials.access_token).toMatch(/^at-/);
    expect(tokens.grants).toMatchObject([{ outcome: 'granted' }]);
  });

  it('does not start without an installation, and makes none', async () => {
    const starting = startGateway({ env: readOnly });
    await expect(starting).rejects.toThrow(/SVC_READ_ONLY: .*has no event log/);
  });
});

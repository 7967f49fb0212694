import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openOperatorRequests } from '#modules/operations/consumer-groups/handlers.ts';
import { startAuthWebhooks } from '#modules/webhooks/webhooks-out/auth-webhooks.ts';
import { startWebhookDeliveries } from '#modules/webhooks/webhooks-out/webhook-delivery.ts';
import { verifyDelivery } from '#rules/signature.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { openWebhookReceiver, type WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import {
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';
import { everythingOn } from '#test/support/worlds/control.ts';

const clock = movedClock();
const [oauth, keyed] = ['oauth', 'keyed'] as const;

let stack: AsyncDisposableStack;
let api: AuthorizingApi;
let receiver: WebhookReceiver;
let signingKey: string;
let environmentId: unknown;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  receiver = stack.use(await openWebhookReceiver());
  const casts = [providerOf('OAUTH2', { name: oauth }), providerOf('API_KEY', { name: keyed })];
  api = stack.use(
    await startAuthorizing(
      casts.map((provider) => ({ provider, options: { isRotating: false } })),
      { clock, egressAllow: [new URL(receiver.url).host] },
    ),
  );
  const { services } = api;
  const parts = { ...services, clock };
  stack.use(
    await startAuthWebhooks({
      ...parts,
      operatorRequests: openOperatorRequests(parts, 'svc.auth-webhooks'),
    }),
  );
  stack.use(
    await startWebhookDeliveries({
      ...parts,
      operatorRequests: openOperatorRequests(parts, 'svc.webhook-deliveries'),
      userAgent: 'svc/1',
      sleep: async (ms) => clock.forward(ms),
    }),
  );
  const rotated = await api.call('POST', '/environment/webhook-signing-key/rotate');
  signingKey = rotated.at('data.webhook_signing_key') as string;
  const listed = await api.call('GET', '/environments', { key: api.keys.account });
  environmentId = listed.at('data.0.id');
  await settings({ webhook_url: `${receiver.url}/primary` });
});
afterAll(() => stack.disposeAsync());

async function settings(body: object): Promise<void> {
  const path = `/environments/${String(environmentId)}`;
  const changed = await api.call('PATCH', path, { key: api.keys.account, body });
  expect(codeOf(changed)).toBe('200 ');
}

/** What the application has heard of a connection, oldest first. */
const heard = (id: string): JsonObject[] =>
  receiver.received
    .map(({ body }) => JSON.parse(body) as JsonObject)
    .filter(({ connectionId }) => connectionId === id);

/** Waits until it has heard so often of the connection. */
async function hears(id: string, times: number): Promise<JsonObject[]> {
  while (heard(id).length < times) await receiver.got(receiver.received.length + 1);
  return heard(id);
}

/** All webhooks have been delivered by now: later ones have arrived. */
async function nothingMore(): Promise<void> {
  const last = await connectWithKey();
  await hears(last, 1);
}

async function connectWithKey(token?: string): Promise<string> {
  const made = await api.submit('/api-auth/api-key', keyed, api.played(keyed).form ?? {}, token);
  expect(codeOf(made)).toBe('200 ');
  return made.at('connectionId') as string;
}

/** A connection whose token has ended; the refresh token is good. */
async function expired(id: string): Promise<void> {
  const credentials = { ...api.played(oauth).importable(), expires_at: 1_700_000_000 };
  const body = { provider_config_key: oauth, connection_id: id, credentials };
  expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
}

/** The provider answers its next refresh so. */
function refreshIsAnswered(status: number, body: JsonObject): void {
  const { definition, plan } = api.played(oauth);
  plan(definition.refresh_url === undefined ? 'token' : 'refresh', { status, body });
}

describe('a connection that a person makes', () => {
  it('is sent with its end user and tags, signed over the exact bytes', async () => {
    const token = await api.token({
      end_user: { id: 'u1', email: 'u1@acme.test', tags: { plan: 'pro' } },
      organization: { id: 'o1' },
      tags: { team: 'x' },
    });
    const id = await connectWithKey(token);
    expect(await hears(id, 1)).toEqual([
      {
        authMode: 'API_KEY',
        connectionId: id,
        endUser: {
          endUserEmail: 'u1@acme.test',
          endUserId: 'u1',
          organizationId: 'o1',
          tags: { plan: 'pro' },
        },
        environment: 'dev',
        from: 'svc',
        operation: 'creation',
        provider: keyed,
        providerConfigKey: keyed,
        success: true,
        tags: {
          end_user_email: 'u1@acme.test',
          end_user_id: 'u1',
          organization_id: 'o1',
          plan: 'pro',
          team: 'x',
        },
        type: 'auth',
      },
    ]);
    const { body, headers } = receiver.received.find((one) => one.body.includes(id))!;
    expect(verifyDelivery(signingKey, body, String(headers['x-svc-hmac-sha256']))).toBe(true);
    expect(body.indexOf('"authMode"')).toBe(1);
  });

  it('is sent as an override when it is authorized again, by a person or by an import', async () => {
    const id = await connectWithKey();
    await hears(id, 1);
    await connectWithKey(
      await api.token({ connection_id: id, integration_id: keyed }, '/connect/sessions/reconnect'),
    );
    const credentials = api.played(keyed).importable();
    const connection_config = api.played(keyed).connectionConfig;
    const body = { provider_config_key: keyed, connection_id: id, credentials, connection_config };
    expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
    const told = await hears(id, 3);
    expect(told.map(({ operation, success }) => [operation, success])).toEqual([
      ['creation', true],
      ['override', true],
      ['override', true],
    ]);
  });

  it('is sent again after a 500, to the address that the session names', async () => {
    let refusals = 0;
    receiver.answer = ({ path }) => (path === '/own' && ++refusals < 3 ? 500 : 200);
    const token = await api.token({
      end_user: { id: 'u1' },
      webhook_url_override: `${receiver.url}/own`,
    });
    const id = await connectWithKey(token);
    await hears(id, 3);
    const tries = receiver.received.filter(({ body }) => body.includes(id));
    expect(tries.map(({ path }) => path)).toEqual(['/own', '/own', '/own']);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    receiver.answer = () => 200;
  });

  it('is not sent where the environment disables it; an override always is', async () => {
    await settings({ on_auth_creation: false });
    const id = await connectWithKey();
    await connectWithKey(
      await api.token({ connection_id: id, integration_id: keyed }, '/connect/sessions/reconnect'),
    );
    expect((await hears(id, 1))[0]).toMatchObject({ operation: 'override' });
    await settings({ on_auth_creation: true });
  });
});

describe('a person who comes back without an authorization', () => {
  it('is sent as a failed creation, also to the address of the session', async () => {
    api.played(oauth).refuses('access_denied');
    const token = await api.token({
      end_user: { id: 'u9' },
      webhook_url_override: `${receiver.url}/failed`,
    });
    const started = await api.redirect(oauth, { connect_session_token: token });
    const landed = await started.back(await started.consent());
    api.played(oauth).refuses(null);
    expect(landed.status).toBe(400);
    const [hook] = await receiver.got(1, '/failed');
    const told = JSON.parse(hook!.body) as JsonObject;
    expect(told).toMatchObject({
      type: 'auth',
      operation: 'creation',
      success: false,
      provider: oauth,
      providerConfigKey: oauth,
      endUser: { endUserId: 'u9' },
      error: { type: 'invalid_callback' },
    });
    expect(told).not.toHaveProperty('tags');
  });
});

describe('a refresh', () => {
  it('that the provider refuses is reported once, shows on the connection, and ends with one recovery', async () => {
    await expired('refused');
    await hears('refused', 1);
    refreshIsAnswered(400, { error: 'invalid_grant' });
    const failed = await api.connection('refused', oauth);
    expect(codeOf(failed)).toBe('400 invalid_credentials');
    const [error] = failed.at('error.payload.connection.errors') as JsonObject[];
    expect(error).toMatchObject({
      type: 'auth',
      log_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    });
    expect(codeOf(await api.connection('refused', oauth))).toBe('424 invalid_credentials');
    expect((await hears('refused', 2))[1]).toMatchObject({
      operation: 'refresh',
      success: false,
      error: {
        type: 'refresh_token_external_error',
        description: expect.stringContaining('invalid_grant') as unknown,
      },
    });

    clock.forward(31_000);
    const well = await api.connection('refused', oauth);
    expect(codeOf(well)).toBe('200 ');
    expect(well.at('errors')).toEqual([]);
    const told = await hears('refused', 3);
    expect(told[2]).toMatchObject({ operation: 'refresh', success: true });
    expect(told[2]).not.toHaveProperty('error');

    const forced = '/connections/refused?force_refresh=true&provider_config_key=oauth';
    expect(codeOf(await api.call('GET', forced))).toBe('200 ');
    await nothingMore();
    expect(heard('refused')).toHaveLength(3);
  });

  it('that fails because the provider is unavailable is not reported, nor is its recovery', async () => {
    await expired('away');
    await hears('away', 1);
    refreshIsAnswered(503, {});
    expect(codeOf(await api.connection('away', oauth))).toBe('424 invalid_credentials');
    clock.forward(31_000);
    expect(codeOf(await api.connection('away', oauth))).toBe('200 ');
    await nothingMore();
    expect(heard('away').map(({ operation }) => operation)).toEqual(['creation']);
  });

  it('is not reported where the environment disables it', async () => {
    await settings({ on_auth_refresh_error: false });
    await expired('quiet');
    await hears('quiet', 1);
    refreshIsAnswered(400, { error: 'invalid_grant' });
    await api.connection('quiet', oauth);
    clock.forward(31_000);
    expect(codeOf(await api.connection('quiet', oauth))).toBe('200 ');
    await nothingMore();
    expect(heard('quiet')).toHaveLength(1);
    await settings({ on_auth_refresh_error: true });
  });
});

describe('the body of an auth webhook', () => {
  it('holds no secret, and stands sealed on the log', async () => {
    const { form } = api.played(keyed);
    const key = form?.['apiKey'] as string;
    expect(key.length).toBeGreaterThan(8);
    const bodies = receiver.received.map(({ body }) => body).join('\n');
    expect(bodies).not.toContain(key);
    const text = await everythingOn(api.services.log);
    expect(text).not.toContain(key);
    expect(text).not.toContain('"operation":"creation"');
  });
});

/* oxlint-disable typescript/no-unsafe-member-access --
   a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWebhookSecret } from '#kernel/webhook-secret.ts';
import type { AuthMode } from '#modules/connections/providers/definition.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import { selfSigned } from '#test/support/fakes/certificate.ts';
import { Canaries, type Finding } from '#test/support/judges/canaries.ts';
import { everythingKept } from '#test/support/judges/canary-places.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  connectionSecrets,
  definitionsAt,
  integrationSecrets,
  nameOf,
  openTokenGiver,
  type TokenGiver,
} from '#test/support/worlds/canary-world.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const canaries = new Canaries();
/** What need not be hidden: the search must find it, or it would find nothing. */
const witnesses = new Canaries();
const plainRecord = witnesses.plant('record');
const plainTag = witnesses.plant('tag');

const apiKey = 'key-of-canary+/=0123456789';

let world: CrmWorld;
let crm: CrmConnection;
let giver: TokenGiver;
const lines: string[] = [];
const refusals: Answer[] = [];

beforeAll(async () => {
  giver = await openTokenGiver({
    token: canaries.plant('token of an answer'),
    access_token: canaries.plant('access token of an answer'),
    // It looks like the code of an error, as which the provider gives it back when it refuses.
    refresh_token: canaries.plant('refresh token of an answer', `rt-${randomUUID()}`),
    sessionId: canaries.plant('session of an answer'),
  });
  world = await openCrmWorld({
    apiKey: canaries.plant('key of the connection', apiKey),
    env: { SVC_LOG_LEVEL: 'debug' },
    definitions: definitionsAt(giver),
    hosts: [giver.hostPort],
  });
  const { key, prodKey, accountKey } = world.gateway;
  for (const [what, text] of Object.entries({ key, prodKey, accountKey })) {
    canaries.plant(`API key ${what}`, text);
  }
  canaries.plant('webhook signing key', world.signingKey);
  canaries.plant('text of the webhook signing key', readWebhookSecret(world.signingKey).toString());
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await giver[Symbol.asyncDispose]();
});

/** Keeps what was refused, whose body must show nothing. */
async function call(...args: Parameters<CrmWorld['gateway']['call']>): Promise<Answer> {
  const answer = await world.gateway.call(...args);
  if (answer.status >= 400) refusals.push(answer);
  return answer;
}

/** The text of a refusal, without what the key may read of the connection that it is about. */
function shownBy(body: Answer['body']): string {
  if (typeof body === 'string') return body;
  const own = new Set(['metadata', 'connection_config']);
  return JSON.stringify(body, (key, value: unknown) => (own.has(key) ? undefined : value));
}

const pathOf = (mode: AuthMode, more = '') =>
  `/connections/canary?provider_config_key=${nameOf(mode)}${more}`;
const headersOf = (mode: AuthMode) => ({
  'provider-config-key': nameOf(mode),
  'connection-id': 'canary',
});

describe('secrets that are planted everywhere', () => {
  it('enter with the credentials of every mode, and are used', async () => {
    for (const mode of authModes) {
      const credentials = integrationSecrets(mode, canaries);
      const integration = { provider: nameOf(mode), unique_key: nameOf(mode), credentials };
      succeeded(await call('POST', '/integrations', { body: integration }));
      const body = {
        provider_config_key: nameOf(mode),
        connection_id: 'canary',
        connection_config: { accountId: 'acc', note: canaries.plant(`${mode} configuration`) },
        metadata: { webhookSecret: canaries.plant(`${mode} metadata`) },
        credentials: connectionSecrets(mode, canaries),
        tags: { team: plainTag },
      };
      succeeded(await call('POST', '/connections', { body }));
      // What has expired is refreshed, and put into a call of the proxy.
      succeeded(await call('GET', pathOf(mode, '&refresh_token=true')));
      const sent = { 'svc-proxy-x-secret': canaries.plant(`${mode} header of the proxy`) };
      const query = `api_key=${encodeURIComponent(canaries.plant(`${mode} query of the proxy`))}`;
      const proxied = { headers: { ...headersOf(mode), ...sent } };
      succeeded(await call('GET', `/proxy/things?${query}`, proxied));
    }
  });

  it('enter with the addresses of webhooks, which only their owner sees', async () => {
    const address = (what: string, path = '/other') =>
      `${world.receiver.url}${path}#${canaries.plant(what)}`;
    const account = { key: world.gateway.accountKey };
    const path = `/environments/${world.environmentId}`;
    const addresses = {
      webhook_url: address('address of the environment', '/primary'),
      webhook_url_secondary: address('second address of the environment'),
    };
    succeeded(await call('PATCH', path, { ...account, body: addresses }));
    expect(succeeded(await call('GET', path, account)).data).toMatchObject(addresses);
    const body = { webhook_url_override: address('address of a connection') };
    succeeded(await call('PATCH', pathOf('NONE'), { body }));
    expect(succeeded(await call('GET', pathOf('NONE')))).toMatchObject(body);
    const session = {
      webhook_url_override: address('address of a connect session'),
      tags: { team: plainTag },
    };
    succeeded(await call('POST', '/connect/sessions', { body: session }));
    const endpoint = { url: address('address of an endpoint'), kinds: ['test'] };
    succeeded(await call('POST', '/webhook-endpoints', { body: endpoint }));
    const certified = selfSigned('svc');
    canaries.plant('key of a client certificate', certified.privateKey);
    const authenticated = {
      url: `${world.receiver.url}/authenticated`,
      kinds: ['auth'],
      oauth: {
        token_url: `${giver.url}/${canaries.plant('address of a token endpoint')}`,
        client_id: 'client',
        client_secret: canaries.plant('secret of the client of an endpoint'),
      },
      client_certificate: {
        certificate: certified.certificate,
        private_key: certified.privateKey,
      },
    };
    succeeded(await call('POST', '/webhook-endpoints', { body: authenticated }));
    const destination = { type: 'slack', target: address('address of an alert destination') };
    succeeded(await call('POST', '/alert-destinations', { body: destination }));
  });

  it('enter with variables, keys, inputs, outputs, answers and repeated requests', async () => {
    crm = await world.connect({ metadata: { webhookSecret: canaries.plant('metadata') } });
    const variable = { body: { value: canaries.plant('variable') } };
    succeeded(await call('PUT', '/environment-variables/SECRET', variable));
    const scopes = ['environment:records:read'];
    const made = await call('POST', '/environment/api-keys', {
      key: world.gateway.accountKey,
      body: { environment_id: world.environmentId, display_name: 'made', scopes },
      headers: { 'idempotency-key': 'repeated' },
    });
    canaries.plant('API key made', succeeded(made).data.secret as string);
    const input = canaries.plant('input of an action');
    expect((await crm.action('echo', input)).body).toBe(input);
    expect((await crm.action('inspect')).body.variables).toEqual([
      { name: 'SECRET', value: variable.body.value },
    ]);
    const answer = { token: canaries.plant('answer to a function') };
    crm.account.plan('/secret', { status: 200, body: answer });
    expect((await crm.action('request', { endpoint: '/secret' })).body.data).toEqual(answer);
    crm.account.contacts = [{ id: 'c-1', name: plainRecord }];
    await crm.run('contacts');
    const rotated = { metadata: { later: canaries.plant('metadata set later') } };
    const body = { connection_id: crm.id, provider_config_key: 'crm', ...rotated };
    succeeded(await call('PATCH', '/connections/metadata', { body }));
  });

  it('enter with what is refused, and no refusal shows them', async () => {
    giver.refuse();
    const refreshed = authModes.filter(
      (mode) => !['OAUTH1', 'BASIC', 'API_KEY', 'NONE'].includes(mode),
    );
    for (const mode of refreshed) await call('GET', pathOf(mode, '&force_refresh=true'));
    const credentials = {
      type: 'API_KEY',
      apiKey: canaries.plant('key that is too long').repeat(40),
    };
    const connection = { provider_config_key: nameOf('API_KEY'), credentials };
    await call('POST', '/connections', { body: connection });
    const wrongType = { type: canaries.plant('type'), apiKey: canaries.plant('key of no type') };
    await call('POST', '/connections', { body: { ...connection, credentials: wrongType } });
    await call('POST', '/integrations', {
      body: {
        provider: 'crm',
        unique_key: 'x',
        credentials: { secret: canaries.plant('misplaced') },
      },
    });
    await call('GET', '/connections', { key: canaries.plant('key of another form') });
    await call('GET', '/connections', {
      key: canaries.plant('key that nobody has', `svc_env_${'k'.repeat(43)}`),
    });
    crm.account.plan('/denied', { status: 401, body: { error: 'unauthorized' } });
    refusals.push(await crm.action('request', { endpoint: '/denied' }));
    // A function that repeats what it was given, and a provider that does.
    for (const how of ['action-error', 'exception']) {
      refusals.push(await crm.action('leak', { how }));
    }
    const body = { error: 'bad key', seen: [apiKey, encodeURIComponent(apiKey)] };
    crm.account.plan(`/echo/${apiKey}`, { status: 400, body });
    refusals.push(await crm.action('request', { endpoint: `/echo/${apiKey}` }));
    expect(refusals.slice(-3).map(({ status }) => status)).toEqual([424, 424, 424]);
    const runs = await eventually(
      () => world.gateway.call('GET', `/runs?connection_id=${crm.id}&function=leak`),
      (answer) => succeeded(answer).data.length === 2,
    );
    for (const { id: operationId } of runs.body.data as { id: string }[]) {
      const said = { body: { operationId, limit: 100 } };
      refusals.push(await world.gateway.call('GET', `/runs/${operationId}`));
      refusals.push(await world.gateway.call('POST', '/logs/messages', said));
    }
    refusals.push(runs);
    const text = `{"secret": "${canaries.plant('body that is no JSON')}"`;
    const broken = await fetch(`${world.gateway.url}/connections`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.gateway.key}`,
        'content-type': 'application/json',
      },
      body: text,
    });
    refusals.push({ status: broken.status, headers: broken.headers, body: await broken.text() });
    expect(refusals.length).toBeGreaterThan(12);
    expect(refusals.filter(({ status }) => status >= 500)).toEqual([]);
    expect(refusals.flatMap(({ body }) => canaries.search('refusal', shownBy(body)))).toEqual([]);
  });

  it('stand in no webhook, no line of the log, and nowhere in what is kept', async () => {
    lines.push(...world.gateway.log);
    await world.restart(async () => undefined);
    await world.gateway.stop();
    lines.push(...world.gateway.log);
    expect(lines.length).toBeGreaterThan(0);
    expect(canaries.search('log', lines.join('\n'))).toEqual([]);
    const webhooks = world.receiver.received.map(({ body }) => body);
    expect(webhooks.length).toBeGreaterThan(0);
    expect(canaries.search('webhooks', webhooks.join('\n'))).toEqual([]);

    const found: Finding[] = [];
    const seen = new Set<string>();
    for await (const { place, bytes } of everythingKept(world.gateway.dataDir)) {
      found.push(...canaries.search(place, bytes));
      for (const { canary } of witnesses.search(place, bytes)) {
        seen.add(`${canary} in ${place.split(' ')[0] ?? ''}`);
      }
    }
    expect(found).toEqual([]);
    expect(canaries.names.length).toBeGreaterThan(60);
    const expected = ['topic', 'store', 'table'].map((place) => `record in ${place}`);
    expect([...seen]).toEqual(
      expect.arrayContaining([...expected, 'tag in topic', 'tag in store']),
    );
  });
});

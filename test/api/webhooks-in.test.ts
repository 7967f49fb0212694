import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import { openOrders } from '../../streams/reactors/orders.ts';
import { startWebhookDeliveries } from '../../streams/reactors/webhook-delivery.ts';
import { checkedFetch } from '../support/answers.ts';
import { codeOf, startApi, type Api } from '../support/api.ts';
import { movedClock } from '../support/clock.ts';
import { everythingOn } from '../support/control.ts';
import {
  openFakeWebhookProvider,
  standardWebhook,
  webhookProviders,
  type FakeWebhookProvider,
  type Sent,
} from '../support/fake-webhook-provider.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const clock = movedClock();
const canary = 'note-of-a-canary-0815';
let stack: AsyncDisposableStack;
let api: Api;
let provider: FakeWebhookProvider;
let receiver: WebhookReceiver;
let environment: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  receiver = stack.use(await openWebhookReceiver());
  provider = stack.use(await openFakeWebhookProvider(() => clock.now()));
  const folder = await mkdtemp(join(tmpdir(), 'svc-providers-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const overlayPath = join(folder, 'providers.json');
  await writeFile(overlayPath, JSON.stringify(webhookProviders(provider.url)));
  const egressAllow = [new URL(receiver.url).host, provider.host];
  const webhookRateLimit = 'enforce';
  api = stack.use(await startApi({ clock, overlayPath, egressAllow, webhookRateLimit }));
  const parts = { ...api.services, clock };
  const orders = openOrders(parts, 'svc.webhook-deliveries');
  stack.use(await startWebhookDeliveries({ ...parts, orders, userAgent: 'svc/1' }));
  for (const key of ['notes', 'tables', 'scripted', 'open-meteo', 'slack', 'tokens']) {
    const credentials = {
      type: 'OAUTH2',
      client_id: 'c',
      client_secret: 's',
      webhook_secret: 'of-slack',
    };
    const body = { provider: key, unique_key: key, ...(key === 'slack' ? { credentials } : {}) };
    expect(codeOf(await api.call('POST', '/integrations', { body }))).toBe('200 ');
  }
  const body = { url: `${receiver.url}/app`, kinds: ['forward'] };
  expect(codeOf(await api.call('POST', '/webhook-endpoints', { body }))).toBe('201 ');
  const shown = await api.call('GET', '/integrations/notes?include=webhook');
  environment = /webhook\/([^/]+)\//.exec(String(shown.at('data.webhook_url')))?.[1] ?? '';
});
afterAll(() => stack.disposeAsync());

const addressOf = (integration: string, query = ''): string =>
  `${api.url}/webhook/${environment}/${integration}${query}`;

async function connect(integration: string, connection_id: string): Promise<void> {
  const body = {
    provider_config_key: integration,
    connection_id,
    credentials: { type: 'API_KEY', apiKey: 'k' },
  };
  expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
}

async function keep(integration: string, connection_id: string, metadata: object): Promise<void> {
  const body = { provider_config_key: integration, connection_id, metadata };
  expect(codeOf(await api.call('PATCH', '/connections/metadata', { body }))).toBe('200 ');
}

const proxied = (
  integration: string,
  connection: string,
  method: string,
  path: string,
  body?: object,
) =>
  api.call(method, `/proxy${path}`, {
    headers: { 'provider-config-key': integration, 'connection-id': connection },
    ...(body === undefined ? {} : { body }),
  });

/** Sends it as the provider does; resolves with the status, and of a refusal its code. */
async function deliver(sent: Sent | null): Promise<string> {
  if (sent === null) throw new Error('the provider sends nothing');
  const { url, headers, body } = sent;
  const response = await checkedFetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  const code = (JSON.parse(text || '{}') as { error?: { code: string } }).error?.code ?? '';
  return `${response.status} ${code}`;
}

interface Shown {
  readonly id: string;
  readonly disposition: string;
  readonly reason: string | null;
  readonly connection_ids: readonly string[];
}

async function listed(query = ''): Promise<Shown[]> {
  const answer = await api.call('GET', `/webhook-deliveries${query}`);
  expect(codeOf(answer)).toBe('200 ');
  return answer.at('data') as Shown[];
}

const forwarded = () => receiver.received.map(({ body }) => JSON.parse(body) as object);

describe('webhooks of notes', () => {
  const register = async (id: string) => {
    const body = { url: addressOf('notes', `?svcConnectionId=${id}`), scopes: ['personal'] };
    const made = await proxied('notes', id, 'POST', '/v1/webhook-endpoints', body);
    expect(codeOf(made)).toBe('201 ');
    const [endpoint, secret] = [made.at('id') as string, made.at('signing_secret') as string];
    await keep('notes', id, { webhookEndpointId: endpoint, webhookSecret: secret });
    return { endpoint, secret };
  };

  it('are verified with the secret of their connection and forwarded in its name', async () => {
    await connect('notes', 'ann');
    await connect('notes', 'ben');
    const { endpoint } = await register('ann');
    await register('ben');
    const event = provider.noteEvent(endpoint, 'note.generated', canary);
    const { length } = receiver.received;
    expect(await deliver(event)).toBe('200 ');
    await receiver.got(length + 1, '/app');
    expect(forwarded().at(-1)).toEqual({
      type: 'forward',
      from: 'notes',
      connectionId: 'ann',
      providerConfigKey: 'notes',
      payload: { type: 'note.generated', note_id: canary },
    });
    const { headers } = receiver.received.at(-1)!;
    expect(headers['webhook-id']).not.toBe(event?.headers['webhook-id']);
    expect(headers['content-type']).toBe('application/json');
    const [first] = await listed('?provider_config_key=notes&connection_id=ann');
    expect(first).toMatchObject({ disposition: 'accepted', type: 'note.generated', run_ids: [] });
    const shown = await api.call('GET', `/webhook-deliveries/${first?.id ?? ''}`);
    expect(shown.at('data.body')).toContain(canary);
    expect(await everythingOn(api.services.log)).not.toContain(canary);
  });

  it('are known when the provider sends them again within a day', async () => {
    const { endpoint } = await register('ann');
    const event = provider.noteEvent(endpoint, 'note.edited', 'n2');
    const { length } = receiver.received;
    expect(await deliver(event)).toBe('200 ');
    expect(await deliver(event)).toBe('200 ');
    const other = provider.noteEvent(endpoint, 'note.edited', 'n3');
    expect(await deliver(other)).toBe('200 ');
    await receiver.got(length + 2, '/app');
    const last = forwarded().slice(length) as { payload: { note_id: string } }[];
    expect(last.map(({ payload }) => payload.note_id).sort()).toEqual(['n2', 'n3']);
    expect((await listed('?disposition=duplicate')).length).toBe(1);
  });

  it('are rejected, and kept with the reason, when anything of that is wrong', async () => {
    const { endpoint, secret } = await register('ann');
    await connect('notes', 'without');
    const good = provider.noteEvent(endpoint, 'note.edited', 'n4')!;
    const { length } = receiver.received;
    const to = (query: string): Sent => ({ ...good, url: addressOf('notes', query) });
    const { 'webhook-signature': _none, ...unsigned } = good.headers;
    const old = standardWebhook(good.url, secret, { type: 'note.edited' }, clock.now() - 301_000);
    const outcomes = {
      'of no connection': await deliver(to('')),
      'of an unknown one': await deliver(to('?svcConnectionId=nobody')),
      'of one without a secret': await deliver(to('?svcConnectionId=without')),
      'of another': await deliver(to('?svcConnectionId=ben')),
      unsigned: await deliver({ ...good, headers: unsigned }),
      changed: await deliver({ ...good, body: good.body.replace('n4', 'n5') }),
      old: await deliver(old),
      'no json': await deliver({ ...good, body: '{' }),
    };
    expect(outcomes).toEqual({
      'of no connection': '400 webhook_missing_connection_id',
      'of an unknown one': '404 unknown_connection',
      'of one without a secret': '401 webhook_missing_secret',
      'of another': '401 webhook_invalid_signature',
      unsigned: '401 webhook_missing_signature',
      changed: '401 webhook_invalid_signature',
      old: '401 webhook_invalid_signature',
      'no json': '400 webhook_invalid_payload',
    });
    const rejected = await listed('?disposition=rejected&provider_config_key=notes');
    expect(rejected.map(({ reason }) => reason).reverse()).toEqual(
      Object.values(outcomes).map((outcome) => outcome.slice(4)),
    );
    expect(await deliver(good)).toBe('200 ');
    await receiver.got(length + 1, '/app');
    expect(receiver.received).toHaveLength(length + 1);
  });

  it('can be processed again once the secret is there', async () => {
    const secret = 'whsec_bWVuZGVkIHNlY3JldCBvZiBhIG5vdGU=';
    const url = addressOf('notes', '?svcConnectionId=without');
    const event = standardWebhook(
      url,
      secret,
      { type: 'note.generated', note_id: 'n6' },
      clock.now(),
    );
    expect(await deliver(event)).toBe('401 webhook_missing_secret');
    const [kept] = await listed('?disposition=rejected&limit=1');
    const process = () => api.call('POST', `/webhook-deliveries/${kept?.id ?? ''}/process`);
    const again = await process();
    expect(again.at('data')).toMatchObject({ disposition: 'rejected', status: 401 });
    await keep('notes', 'without', { webhookSecret: secret });
    // The time that counts is that at which it came in.
    clock.forward(3_600_000);
    const { length } = receiver.received;
    expect((await process()).at('data')).toMatchObject({
      disposition: 'reprocessed',
      connection_ids: ['without'],
    });
    await receiver.got(length + 1, '/app');
    expect(forwarded().at(-1)).toMatchObject({
      connectionId: 'without',
      payload: { note_id: 'n6' },
    });
  });

  it('end with their endpoint', async () => {
    const { endpoint } = await register('ann');
    const path = `/v1/webhook-endpoints/${endpoint}`;
    expect(codeOf(await proxied('notes', 'ann', 'DELETE', path))).toBe('200 ');
    expect(provider.noteEvent(endpoint, 'note.edited', 'n7')).toBeNull();
  });
});

describe('webhooks of tables', () => {
  const register = async (id: string) => {
    const body = { notificationUrl: addressOf('tables'), specification: {} };
    const made = await proxied('tables', id, 'POST', '/v0/bases/app1/webhooks', body);
    expect(codeOf(made)).toBe('200 ');
    return { webhook: made.at('id') as string, secret: made.at('macSecretBase64') as string };
  };

  it('find their connection by the id of the webhook, and are verified with its secret', async () => {
    await connect('tables', 'cleo');
    const [first, second] = [await register('cleo'), await register('cleo')];
    expect(await deliver(provider.tableEvent(first.webhook))).toBe('404 unknown_connection');
    await keep('tables', 'cleo', {
      webhooks: { [first.webhook]: { macSecretBase64: first.secret }, [second.webhook]: {} },
    });
    const { length } = receiver.received;
    expect(await deliver(provider.tableEvent(first.webhook))).toBe('200 ');
    await receiver.got(length + 1, '/app');
    expect(forwarded().at(-1)).toMatchObject({
      connectionId: 'cleo',
      payload: { base: { id: 'app1' }, webhook: { id: first.webhook } },
    });
    expect(await deliver(provider.tableEvent(second.webhook))).toBe('401 webhook_missing_secret');
    const good = provider.tableEvent(first.webhook)!;
    const mac = { 'x-provider-content-mac': `hmac-sha256=${'0'.repeat(64)}` };
    const wrong = { ...good, headers: { ...good.headers, ...mac } };
    expect(await deliver(wrong)).toBe('401 webhook_invalid_signature');
    const nameless = { ...good, body: '{"base":{"id":"app1"}}' };
    expect(await deliver(nameless)).toBe('400 webhook_missing_connection_id');
    // The whole object is replaced: the first is known no more.
    await keep('tables', 'cleo', {
      webhooks: { [second.webhook]: { macSecretBase64: second.secret } },
    });
    expect(await deliver(provider.tableEvent(first.webhook))).toBe('404 unknown_connection');
    expect(await deliver(provider.tableEvent(second.webhook))).toBe('200 ');
  });

  it('end after a week, and go on with the same id and secret once refreshed', async () => {
    const { webhook, secret } = await register('cleo');
    await keep('tables', 'cleo', { webhooks: { [webhook]: { macSecretBase64: secret } } });
    clock.forward(7 * 86_400_000);
    expect(provider.tableEvent(webhook)).toBeNull();
    const path = `/v0/bases/app1/webhooks/${webhook}/refresh`;
    expect(codeOf(await proxied('tables', 'cleo', 'POST', path, {}))).toBe('200 ');
    expect(await deliver(provider.tableEvent(webhook))).toBe('200 ');
  });
});

describe('webhooks to an address', () => {
  const plain = (url: string, body = '{}'): Sent => ({
    url,
    headers: { 'content-type': 'application/json' },
    body,
  });

  it('that leads nowhere are refused', async () => {
    const outcomes = [
      `${api.url}/webhook/none/notes`,
      `${api.url}/webhook/${environment}/%00`,
      `${api.url}/webhook/0198c1a2-7d30-4000-8000-0000000000aa/notes`,
      addressOf('nothing'),
      addressOf('scripted'),
      `${api.url}/webhook/${environment}`,
    ].map((url) => deliver(plain(url)));
    expect(await Promise.all(outcomes)).toEqual([
      '400 invalid_uri_params',
      '400 invalid_uri_params',
      '404 unknown_environment',
      '404 unknown_provider_config',
      '400 webhook_unknown_provider',
      '404 not_found',
    ]);
  });

  it('that carry a token come with it, or are refused', async () => {
    await connect('tokens', 'dee');
    await keep('tokens', 'dee', { webhookSecret: 'of-dee' });
    const sent = plain(addressOf('tokens', '?svcConnectionId=dee'));
    const named = { ...sent, headers: { ...sent.headers, 'x-token': 'of-dee' } };
    expect(await deliver(named)).toBe('200 ');
    expect(await deliver(sent)).toBe('401 webhook_missing_token');
  });

  it('cannot be processed again by an integration that became one of another provider', async () => {
    const [kept] = await listed('?provider_config_key=tokens&limit=1');
    expect(codeOf(await api.call('DELETE', '/integrations/tokens'))).toBe('200 ');
    const body = { provider: 'scripted', unique_key: 'tokens' };
    expect(codeOf(await api.call('POST', '/integrations', { body }))).toBe('200 ');
    const again = await api.call('POST', `/webhook-deliveries/${kept?.id ?? ''}/process`);
    expect(codeOf(again)).toBe('400 webhook_unknown_provider');
  });

  it('of a provider that sends none are taken for nothing', async () => {
    expect(await deliver(plain(addressOf('open-meteo')))).toBe('204 ');
  });

  it('of Slack are answered with its challenge', async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'of-slack-1' });
    const seconds = String(Math.floor(clock.now() / 1000));
    const mac = createHmac('sha256', 'of-slack').update(`v0:${seconds}:${body}`).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${mac}`,
    };
    const response = await checkedFetch(addressOf('slack'), { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([200, 'of-slack-1']);
    expect(await deliver({ url: addressOf('slack'), headers, body: `${body} ` })).toBe(
      '401 webhook_invalid_signature',
    );
  });

  it('that are too large are cut', async () => {
    const body = JSON.stringify({ filler: 'x'.repeat(4 * 1024 ** 2) });
    expect(await deliver(plain(addressOf('notes'), body))).toBe('413 request_too_large');
  });

  it('that are too many in a minute are refused', async () => {
    const url = addressOf('open-meteo');
    const answer = await fetch(url, { method: 'POST' });
    const { webhooksInPerMinute: limit } = limits;
    expect([answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([204, String(limit)]);
    const name = `rate:webhooks:${environment}/open-meteo`;
    await api.services.coordination.count(name, { windowMs: 60_000, by: limit });
    const refused = await fetch(url, { method: 'POST' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(await deliver(plain(addressOf('slack')))).toMatch(/^401/);
  });

  it('of other environments are not shown', async () => {
    const answer = await api.call('GET', '/webhook-deliveries', { key: api.keys.prod });
    expect(answer.at('data')).toEqual([]);
    const [any] = await listed('?limit=1');
    const path = `/webhook-deliveries/${any?.id ?? ''}`;
    expect(codeOf(await api.call('GET', path, { key: api.keys.prod }))).toBe('404 not_found');
  });
});

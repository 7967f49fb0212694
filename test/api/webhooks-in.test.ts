import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import {
  standardWebhook,
  type FakeWebhookProvider,
  type Sent,
} from '#test/support/fakes/fake-webhook-provider.ts';
import type { WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { codeOf, type Api } from '#test/support/worlds/api.ts';
import { everythingOn } from '#test/support/worlds/control.ts';
import {
  deliver,
  openWebhookIngress,
  type WebhookIngress,
} from '#test/support/worlds/webhook-ingress.ts';

const canary = 'note-of-a-canary-0815';
let ingress: WebhookIngress;
let api: Api;
let provider: FakeWebhookProvider;
let receiver: WebhookReceiver;

beforeAll(async () => {
  ingress = await openWebhookIngress([
    'notes',
    'tables',
    'scripted',
    'open-meteo',
    'slack',
    'tokens',
  ]);
  ({ api, provider, receiver } = ingress);
});
afterAll(() => ingress[Symbol.asyncDispose]());

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

describe('webhooks of notes', () => {
  const register = async (id: string) => {
    const body = {
      url: ingress.addressOf('notes', `?svcConnectionId=${id}`),
      scopes: ['personal'],
    };
    const made = await proxied('notes', id, 'POST', '/v1/webhook-endpoints', body);
    expect(codeOf(made)).toBe('201 ');
    const [endpoint, secret] = [made.at('id') as string, made.at('signing_secret') as string];
    await ingress.keep('notes', id, { webhookEndpointId: endpoint, webhookSecret: secret });
    return { endpoint, secret };
  };

  it('are verified with the secret of their connection and forwarded in its name', async () => {
    await ingress.connect('notes', 'ann');
    await ingress.connect('notes', 'ben');
    const { endpoint } = await register('ann');
    await register('ben');
    const event = provider.noteEvent(endpoint, 'note.generated', canary);
    const { length } = receiver.received;
    expect(await deliver(event)).toBe('200 ');
    await receiver.got(length + 1, '/app');
    expect(ingress.forwarded().at(-1)).toEqual({
      type: 'forward',
      from: 'notes',
      connectionId: 'ann',
      providerConfigKey: 'notes',
      payload: { type: 'note.generated', note_id: canary },
    });
    const { headers } = receiver.received.at(-1)!;
    expect(headers['webhook-id']).not.toBe(event?.headers['webhook-id']);
    expect(headers['content-type']).toBe('application/json');
    const [first] = await ingress.listed('?provider_config_key=notes&connection_id=ann');
    expect(first).toMatchObject({ disposition: 'accepted', type: 'note.generated', run_ids: [] });
    const shown = await api.call('GET', `/webhook-deliveries/${first?.id ?? ''}`);
    expect(shown.at('data.body')).toContain(canary);
    expect(await everythingOn(api.services.log)).not.toContain(canary);
  });

  it('are rejected, and kept with the reason, when anything of that is wrong', async () => {
    const { endpoint, secret } = await register('ann');
    await ingress.connect('notes', 'without');
    const good = provider.noteEvent(endpoint, 'note.edited', 'n4')!;
    const { length } = receiver.received;
    const to = (query: string): Sent => ({ ...good, url: ingress.addressOf('notes', query) });
    const { 'webhook-signature': _none, ...unsigned } = good.headers;
    const old = standardWebhook(
      good.url,
      secret,
      { type: 'note.edited' },
      ingress.clock.now() - 301_000,
    );
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
    const rejected = await ingress.listed('?disposition=rejected&provider_config_key=notes');
    expect(rejected.map(({ reason }) => reason).reverse()).toEqual(
      Object.values(outcomes).map((outcome) => outcome.slice(4)),
    );
    expect(await deliver(good)).toBe('200 ');
    await receiver.got(length + 1, '/app');
    expect(receiver.received).toHaveLength(length + 1);
  });

  it('can be processed again once the secret is there', async () => {
    const secret = 'whsec_bWVuZGVkIHNlY3JldCBvZiBhIG5vdGU=';
    const url = ingress.addressOf('notes', '?svcConnectionId=without');
    const event = standardWebhook(
      url,
      secret,
      { type: 'note.generated', note_id: 'n6' },
      ingress.clock.now(),
    );
    expect(await deliver(event)).toBe('401 webhook_missing_secret');
    const [kept] = await ingress.listed('?disposition=rejected&limit=1');
    const process = () => api.call('POST', `/webhook-deliveries/${kept?.id ?? ''}/process`);
    const again = await process();
    expect(again.at('data')).toMatchObject({ disposition: 'rejected', status: 401 });
    await ingress.keep('notes', 'without', { webhookSecret: secret });
    // The time that counts is that at which it came in.
    ingress.clock.forward(3_600_000);
    const { length } = receiver.received;
    expect((await process()).at('data')).toMatchObject({
      disposition: 'reprocessed',
      connection_ids: ['without'],
    });
    await receiver.got(length + 1, '/app');
    expect(ingress.forwarded().at(-1)).toMatchObject({
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
    const body = { notificationUrl: ingress.addressOf('tables'), specification: {} };
    const made = await proxied('tables', id, 'POST', '/v0/bases/app1/webhooks', body);
    expect(codeOf(made)).toBe('200 ');
    return { webhook: made.at('id') as string, secret: made.at('macSecretBase64') as string };
  };

  it('find their connection by the id of the webhook, and are verified with its secret', async () => {
    await ingress.connect('tables', 'cleo');
    const [first, second] = [await register('cleo'), await register('cleo')];
    expect(await deliver(provider.tableEvent(first.webhook))).toBe('404 unknown_connection');
    await ingress.keep('tables', 'cleo', {
      webhooks: { [first.webhook]: { macSecretBase64: first.secret }, [second.webhook]: {} },
    });
    const { length } = receiver.received;
    expect(await deliver(provider.tableEvent(first.webhook))).toBe('200 ');
    await receiver.got(length + 1, '/app');
    expect(ingress.forwarded().at(-1)).toMatchObject({
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
    await ingress.keep('tables', 'cleo', {
      webhooks: { [second.webhook]: { macSecretBase64: second.secret } },
    });
    expect(await deliver(provider.tableEvent(first.webhook))).toBe('404 unknown_connection');
    expect(await deliver(provider.tableEvent(second.webhook))).toBe('200 ');
  });

  it('end after a week, and go on with the same id and secret once refreshed', async () => {
    const { webhook, secret } = await register('cleo');
    await ingress.keep('tables', 'cleo', { webhooks: { [webhook]: { macSecretBase64: secret } } });
    ingress.clock.forward(7 * 86_400_000);
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
      `${api.url}/webhook/${ingress.environmentUid}/%00`,
      `${api.url}/webhook/0198c1a2-7d30-4000-8000-0000000000aa/notes`,
      ingress.addressOf('nothing'),
      ingress.addressOf('scripted'),
      `${api.url}/webhook/${ingress.environmentUid}`,
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
    await ingress.connect('tokens', 'dee');
    await ingress.keep('tokens', 'dee', { webhookSecret: 'of-dee' });
    const sent = plain(ingress.addressOf('tokens', '?svcConnectionId=dee'));
    const named = { ...sent, headers: { ...sent.headers, 'x-token': 'of-dee' } };
    expect(await deliver(named)).toBe('200 ');
    expect(await deliver(sent)).toBe('401 webhook_missing_token');
  });

  it('cannot be processed again by an integration that became one of another provider', async () => {
    const [kept] = await ingress.listed('?provider_config_key=tokens&limit=1');
    expect(codeOf(await api.call('DELETE', '/integrations/tokens'))).toBe('200 ');
    const body = { provider: 'scripted', unique_key: 'tokens' };
    expect(codeOf(await api.call('POST', '/integrations', { body }))).toBe('200 ');
    const again = await api.call('POST', `/webhook-deliveries/${kept?.id ?? ''}/process`);
    expect(codeOf(again)).toBe('400 webhook_unknown_provider');
  });

  it('of a provider that sends none are taken for nothing', async () => {
    expect(await deliver(plain(ingress.addressOf('open-meteo')))).toBe('204 ');
  });

  it('of Slack are answered with its challenge', async () => {
    const body = JSON.stringify({ type: 'url_verification', challenge: 'of-slack-1' });
    const seconds = String(Math.floor(ingress.clock.now() / 1000));
    const mac = createHmac('sha256', 'of-slack').update(`v0:${seconds}:${body}`).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${mac}`,
    };
    const response = await checkedFetch(ingress.addressOf('slack'), {
      method: 'POST',
      headers,
      body,
    });
    expect([response.status, await response.text()]).toEqual([200, 'of-slack-1']);
    expect(await deliver({ url: ingress.addressOf('slack'), headers, body: `${body} ` })).toBe(
      '401 webhook_invalid_signature',
    );
  });

  it.each([
    ['JSON with a byte order mark', 'application/json', (json: string) => `\ufeff${json}`],
    [
      'a form',
      'application/x-www-form-urlencoded',
      (json: string) => `payload=${encodeURIComponent(json)}&payload=other`,
    ],
    [
      'multipart',
      'multipart/form-data; boundary=b1',
      (json: string) =>
        `--b1\r\nContent-Disposition: form-data; name="payload"\r\n\r\n${json}\r\n--b1--\r\n`,
    ],
  ])('of Slack in %s are verified by their bytes and forwarded parsed', async (_, type, write) => {
    const payload = { type: 'block_actions', team: { id: 'T-none' } };
    const body = write(JSON.stringify(payload));
    const seconds = String(Math.floor(ingress.clock.now() / 1000));
    const mac = createHmac('sha256', 'of-slack').update(`v0:${seconds}:${body}`).digest('hex');
    const headers = {
      'content-type': type,
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${mac}`,
    };
    const { length } = receiver.received;
    expect(await deliver({ url: ingress.addressOf('slack'), headers, body })).toBe('200 ');
    await receiver.got(length + 1, '/app');
    expect(ingress.forwarded().at(-1)).toEqual(payload);
  });

  it('that are larger than 3 MiB are refused with what to do about it', async () => {
    const sent = (bytes: number) => plain(ingress.addressOf('notes'), `"${'x'.repeat(bytes - 2)}"`);
    const most = 3 * 1024 ** 2;
    expect(await deliver(sent(most))).toBe('400 webhook_missing_connection_id');
    const { url, headers, body } = sent(most + 1);
    const answer = await checkedFetch(url, { method: 'POST', headers, body });
    expect(answer.status).toBe(413);
    const { error } = (await answer.json()) as { error: { code: string; fix: string } };
    expect(error).toMatchObject({ code: 'request_too_large' });
    expect(error.fix).toContain('3 MiB');
  });

  it('that are too many in a minute are refused', async () => {
    const url = ingress.addressOf('open-meteo');
    const answer = await fetch(url, { method: 'POST' });
    const { webhooksInPerMinute: limit } = limits;
    expect([answer.status, answer.headers.get('x-ratelimit-limit')]).toEqual([204, String(limit)]);
    const name = `rate:webhooks:${ingress.environmentUid}/open-meteo`;
    await api.services.coordination.count(name, { windowMs: 60_000, by: limit });
    const refused = await fetch(url, { method: 'POST' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(await deliver(plain(ingress.addressOf('slack')))).toMatch(/^401/);
  });

  it('of other environments are not shown', async () => {
    const answer = await api.call('GET', '/webhook-deliveries', { key: api.keys.prod });
    expect(answer.at('data')).toEqual([]);
    const [any] = await ingress.listed('?limit=1');
    const path = `/webhook-deliveries/${any?.id ?? ''}`;
    expect(codeOf(await api.call('GET', path, { key: api.keys.prod }))).toBe('404 not_found');
  });
});

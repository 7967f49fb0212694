import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { minuteMs } from '#kernel/time.ts';
import {
  openClientTokenEndpoint,
  type ClientTokenEndpoint,
} from '#test/support/fakes/client-token-endpoint.ts';
import type { Received } from '#test/support/fakes/webhook-receiver.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import { until } from '#test/support/worlds/runs.ts';
import { openWebhookApi, type WebhookApi } from '#test/support/worlds/webhook-api.ts';

let tokens: ClientTokenEndpoint;
let world: WebhookApi;
beforeAll(async () => {
  tokens = await openClientTokenEndpoint();
  world = await openWebhookApi([tokens.host]);
});
beforeEach(() => {
  tokens.respond = null;
  world.receiver.answer = () => 200;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await tokens[Symbol.asyncDispose]();
});

const client = { client_id: 'svc client', client_secret: 'p%ss:word' };
const oauthAt = (path: string, more: object = {}) => ({
  oauth: { token_url: `${tokens.url}${path}`, ...client, ...more },
});
const calls = (path: string) => tokens.calls.filter((call) => call.path === path);
const authorizations = (path: string): (string | undefined)[] =>
  world.receiver.received
    .filter((one: Received) => one.path === path)
    .map(({ headers }) => headers.authorization);

describe('an endpoint with OAuth client credentials', () => {
  it('gets webhooks with a token that is requested once, also for many at a time', async () => {
    const more = { scopes: ['hooks:write', 'b'], audience: 'https://hooks.example' };
    const id = await world.endpoint('/many', oauthAt('/many', more));
    await Promise.all(Array.from({ length: 20 }, () => world.tested(id)));
    await world.settled(id, 'delivered', 20);
    expect(calls('/many')).toHaveLength(1);
    const [{ headers, form }] = calls('/many') as [ReturnType<typeof calls>[number]];
    const basic = Buffer.from('svc%20client:p%25ss%3Aword').toString('base64');
    expect(headers.authorization).toBe(`Basic ${basic}`);
    expect(form).toEqual({
      grant_type: 'client_credentials',
      scope: 'hooks:write b',
      audience: 'https://hooks.example',
    });
    const used = new Set(authorizations('/many'));
    expect([...used]).toEqual([expect.stringMatching(/^Bearer token-\d+$/)]);
    await world.removed(id);
  });

  it('sends id and secret in the form where it is to', async () => {
    const id = await world.endpoint('/form', oauthAt('/form', { client_authentication: 'body' }));
    await world.tested(id);
    await world.settled(id, 'delivered');
    expect(calls('/form')[0]?.headers.authorization).toBeUndefined();
    expect(calls('/form')[0]?.form).toEqual({ grant_type: 'client_credentials', ...client });
    await world.removed(id);
  });

  it('gets another token shortly before the first one ends', async () => {
    const id = await world.endpoint('/expiry', oauthAt('/expiry'));
    const send = async (): Promise<number> => {
      const count = authorizations('/expiry').length;
      await world.tested(id);
      await world.receiver.got(count + 1, '/expiry');
      return new Set(authorizations('/expiry')).size;
    };
    expect(await send()).toBe(1);
    world.clock.forward(58 * minuteMs);
    expect(await send()).toBe(1);
    world.clock.forward(1.5 * minuteMs);
    expect(await send()).toBe(2);
    await world.removed(id);
  });

  it('gets a webhook once more with another token when it answers 401', async () => {
    const id = await world.endpoint('/revoked', oauthAt('/revoked'));
    await world.tested(id);
    await world.settled(id, 'delivered');
    const [revoked] = authorizations('/revoked');
    world.receiver.answer = ({ headers }) => (headers.authorization === revoked ? 401 : 200);
    await Promise.all(Array.from({ length: 5 }, () => world.tested(id)));
    const delivered = await world.settled(id, 'delivered', 6);
    expect(delivered.map(({ attempts }) => attempts)).toEqual(Array(6).fill(1));
    expect(calls('/revoked')).toHaveLength(2);
    world.receiver.answer = () => 401;
    const waits = { retry_waits_seconds: [] };
    await world.changed(id, waits);
    await world.tested(id);
    const [failed] = await world.settled(id, 'failed');
    expect(failed).toMatchObject({ attempts: 1, status: 401, error_code: null });
    expect(calls('/revoked')).toHaveLength(3);
    await world.removed(id);
  });

  it('uses a changed client at once, and none after it was removed', async () => {
    const id = await world.endpoint('/changed', oauthAt('/before'));
    await world.tested(id);
    await world.settled(id, 'delivered', 1);
    const changed = await world.changed(id, oauthAt('/after'));
    expect(changed['oauth']).toEqual({
      token_url: `${tokens.url}/after`,
      client_id: 'svc client',
      client_authentication: 'basic',
      scopes: [],
      audience: null,
    });
    await world.tested(id);
    await world.settled(id, 'delivered', 2);
    expect([calls('/before').length, calls('/after').length]).toEqual([1, 1]);
    expect((await world.changed(id, { oauth: null }))['oauth']).toBeNull();
    await world.tested(id);
    await world.settled(id, 'delivered', 3);
    expect(authorizations('/changed').at(-1)).toBeUndefined();
    await world.removed(id);
  });

  it('is refused without its secret, and beside an authorization header', async () => {
    const post = (body: object) =>
      world.api.call('POST', '/webhook-endpoints', {
        body: { url: 'https://hooks.example/', ...body },
      });
    const { client_id } = client;
    const noSecret = await post({ oauth: { token_url: tokens.url, client_id } });
    expect(codeOf(noSecret)).toBe('400 invalid_body');
    expect(noSecret.at('error.errors.0.path')).toEqual(['oauth', 'client_secret']);
    const inAddress = { token_url: 'https://a:b@auth.example/token', ...client };
    expect((await post({ oauth: inAddress })).at('error.errors.0.path')).toEqual([
      'oauth',
      'token_url',
    ]);
    const both = await post({ ...oauthAt('/both'), headers: { Authorization: 'Basic x' } });
    expect(codeOf(both)).toBe('400 invalid_body');
    expect(both.at('error.errors.0.path')).toEqual(['oauth']);
    const id = await world.endpoint('/both', { headers: { authorization: 'Basic x' } });
    const patched = await world.api.call('PATCH', `/webhook-endpoints/${id}`, {
      body: oauthAt('/both'),
    });
    expect(codeOf(patched)).toBe('400 invalid_body');
    await world.removed(id);
  });

  it('shows no secret in any answer or on its topic', async () => {
    const id = await world.endpoint('/secret', oauthAt('/secret'));
    await world.tested(id);
    await world.settled(id, 'delivered');
    const shown = await world.api.call('GET', '/webhook-endpoints');
    const messages = await world.api.call('GET', `/webhook-messages?endpoint_id=${id}`);
    for (const { body } of [shown, messages]) {
      const text = JSON.stringify(body);
      expect(text).not.toContain('p%ss');
      expect(text).not.toContain('token-');
    }
    await world.removed(id);
  });
});

type Respond = (response: ServerResponse) => void;
const json =
  (body: unknown, status = 200): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const bearer = { token_type: 'Bearer', expires_in: 60 };

/** What a token endpoint does, and the code of the attempt. */
const hostile: readonly [what: string, code: string, respond: Respond][] = [
  ['answers 503', 'token_endpoint_away', json({}, 503)],
  ['cuts the connection', 'token_endpoint_away', (response) => void response.destroy()],
  ['refuses the client', 'token_refused', json({ error: 'invalid_client' }, 401)],
  [
    'redirects',
    'token_refused',
    (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  ],
  ['answers a page', 'token_unreadable', (response) => void response.end('<html>p%ss:word</html>')],
  ['answers without a token', 'token_unreadable', json({ ...bearer, id_token: 'x' })],
  ['answers a list', 'token_unreadable', json(['token'])],
  [
    'gives a token of two lines',
    'token_unreadable',
    json({ ...bearer, access_token: 'a\r\nb: c' }),
  ],
  [
    'gives a token of another kind',
    'token_unreadable',
    json({ access_token: 'a', token_type: 'mac' }),
  ],
  ['gives a huge token', 'token_unreadable', json({ ...bearer, access_token: 'a'.repeat(20_000) })],
  [
    'answers without end',
    'token_unreadable',
    (response) => {
      const more = (): void => {
        while (response.write('{'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    },
  ],
];

describe('a token endpoint that', () => {
  it.each(hostile)(
    '%s fails the attempt with %s, and no webhook is sent',
    async (what, code, respond) => {
      tokens.respond = respond;
      const path = `/hostile-${what.replaceAll(' ', '-')}`;
      const id = await world.endpoint(path, { ...oauthAt(path), retry_waits_seconds: [5] });
      const message = await world.tested(id);
      await world.settled(id, 'failed');
      const shown = await world.api.call('GET', `/webhook-messages/${message}`);
      const [delivery] = shown.at('data.deliveries') as { error_code: string; fix: string }[];
      expect(delivery).toMatchObject({ error_code: code, attempts: 2, status: null });
      expect(delivery?.fix).toContain('token');
      expect(JSON.stringify(shown.body)).not.toContain('p%ss');
      expect(calls(path)).toHaveLength(2);
      expect(calls('/elsewhere')).toEqual([]);
      expect(authorizations(path)).toEqual([]);
      const listed = await world.api.call('GET', '/webhook-endpoints');
      const endpoints = listed.at('data') as { id: string; failing_since: string | null }[];
      expect(endpoints.find((one) => one.id === id)?.failing_since).not.toBeNull();
      await world.removed(id);
    },
  );

  it('is slow, one byte at a time, holds an attempt for 10 s at most', async () => {
    tokens.respond = (response) => {
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    };
    const id = await world.endpoint('/slow', { ...oauthAt('/slow'), retry_waits_seconds: [] });
    const [one, two] = [await world.tested(id), await world.tested(id)];
    const failed = await world.settled(id, 'failed', 2);
    expect(failed.map((delivery) => delivery.id).sort()).toEqual([one, two].sort());
    expect(failed[0]?.error_code).toBe('token_endpoint_away');
    expect(calls('/slow')).toHaveLength(1);
    await world.removed(id);
  });

  it('may not be called ends the delivery, and is not called', async () => {
    const oauth = { token_url: 'http://10.1.2.3/token', ...client };
    const id = await world.endpoint('/internal', { oauth });
    await world.tested(id);
    const [failed] = await world.settled(id, 'failed');
    expect(failed).toMatchObject({ error_code: 'token_url_not_allowed', attempts: 1 });
    expect(failed?.fix).toContain('SVC_EGRESS_ALLOW');
    await world.removed(id);
  });

  it('works again gives the webhooks that waited a token', async () => {
    tokens.respond = json({}, 500);
    const id = await world.endpoint('/again', oauthAt('/again'));
    await world.tested(id);
    await until(() => calls('/again').length > 0);
    tokens.respond = null;
    await world.settled(id, 'delivered');
    await world.removed(id);
  });
});

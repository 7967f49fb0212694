import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openOperatorRequests } from '#modules/operations/consumer-groups/handlers.ts';
import { startWebhookDeliveries } from '#modules/webhooks/webhooks-out/webhook-delivery.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { openWebhookReceiver, type WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import {
  openPageSocket,
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';
import { everythingOn } from '#test/support/worlds/control.ts';

const clock = movedClock();
const [oauth2, spaced, raw, oauth1, app, custom] = [
  'oauth2',
  'spaced',
  'raw',
  'oauth1',
  'app',
  'custom',
] as const;

let stack: AsyncDisposableStack;
let api: AuthorizingApi;
let receiver: WebhookReceiver;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  receiver = stack.use(await openWebhookReceiver());
  const casts = [
    providerOf('OAUTH2', { name: oauth2, scope_separator: ',' }),
    providerOf('OAUTH2', { name: spaced, scope_separator: ' ' }),
    providerOf('OAUTH2', {
      name: raw,
      scope_separator: ' ',
      authorization_url_skip_encode: ['scopes'],
    }),
    providerOf('OAUTH1', { name: oauth1 }),
    providerOf('APP', { name: app }),
    providerOf('CUSTOM', { name: custom }),
  ];
  api = stack.use(
    await startAuthorizing(
      casts.map((provider) => ({ provider })),
      { clock, egressAllow: [new URL(receiver.url).host] },
    ),
  );
  const parts = { ...api.services, clock };
  stack.use(
    await startWebhookDeliveries({
      ...parts,
      operatorRequests: openOperatorRequests(parts, 'svc.webhook-deliveries'),
      userAgent: 'svc/1',
      sleep: async (ms) => clock.forward(ms),
    }),
  );
  const listed = await api.call('GET', '/environments', { key: api.keys.account });
  const path = `/environments/${String(listed.at('data.0.id'))}`;
  const body = { webhook_url: `${receiver.url}/primary` };
  expect(codeOf(await api.call('PATCH', path, { key: api.keys.account, body }))).toBe('200 ');
});
afterAll(() => stack.disposeAsync());

describe('scopes with every character of RFC 6749 section 3.3', () => {
  const odd = ['user+write', "a!#$%&'()*+-./:;<=>?@[]^_`{|}~z", '${clientSecret}', 'x||y'];

  const grant = (key: string, scopes: string) => {
    const credentials = { ...api.played(key).integration, scopes };
    return api.call('PATCH', `/integrations/${key}`, { body: { credentials } });
  };

  it.each([
    [spaced, ' '],
    [oauth2, ','],
    [raw, ' '],
  ])('reach the page of %s unchanged, separated by %j', async (key, separator) => {
    expect(codeOf(await grant(key, odd.join(',')))).toBe('200 ');
    const shown = await api.call('GET', `/integrations/${key}?include=credentials`);
    expect(shown.at('data.credentials.scopes')).toBe(odd.join(','));
    const { location } = await api.redirect(key);
    const { searchParams } = new URL(location);
    expect(searchParams.get('scope')?.split(separator)).toEqual(odd);
    expect(location).toContain('user%2Bwrite');
    expect([...searchParams.keys()].filter((name) => name === 'scope')).toHaveLength(1);
    expect(searchParams.get('state')).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each(['read write', 'a"b', 'a\\b', 'é', 'a,,b', ',a', 'a\nb'])(
    'do not include %j',
    async (scopes) => {
      const refused = await grant(spaced, scopes);
      expect(codeOf(refused)).toBe('400 invalid_body');
      expect(JSON.stringify(refused.body)).toContain('RFC 6749');
    },
  );

  it('are a list in the configuration of an imported connection, also with a comma in one', async () => {
    const list = ['user+write', 'a,b'];
    const { integration: _none, ...played } = api.played(spaced);
    const body = {
      provider_config_key: spaced,
      connection_id: 'listed',
      credentials: played.importable(),
      connection_config: { ...played.connectionConfig, oauth_scopes_override: list },
    };
    expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
    const token = await api.token(
      { connection_id: 'listed', integration_id: spaced },
      '/connect/sessions/reconnect',
    );
    const { location } = await api.redirect(spaced, { connect_session_token: token });
    expect(new URL(location).searchParams.get('scope')?.split(' ')).toEqual(list);
  });
});

/** A person comes back with this query besides the state. */
async function refusedWith(key: string, query: Readonly<Record<string, string>>) {
  await using socket = await openPageSocket(api.url);
  const token = await api.token({ end_user: { id: 'u1' } });
  const started = await api.redirect(key, {
    ws_client_id: socket.id,
    connect_session_token: token,
  });
  const { state = '' } = await started.consent();
  const before = receiver.received.length;
  const landed = await started.back({ state, ...query });
  const told = await socket.next();
  await receiver.got(before + 1);
  const webhook = JSON.parse(receiver.received.at(-1)?.body ?? '{}') as Record<string, unknown>;
  const path = `/logs/operations/${String(told['log_id'])}`;
  await api.services.logs.flush();
  return { landed, told, webhook, state, path };
}

/** The provider answers the exchange of the code with this. */
async function exchangedFor(body: JsonObject, status = 401) {
  await using socket = await openPageSocket(api.url);
  const started = await api.redirect(oauth2, {
    ws_client_id: socket.id,
    connect_session_token: await api.token({ end_user: { id: 'u1' } }),
  });
  const query = await started.consent();
  api.played(oauth2).plan('token', { status, body });
  const before = receiver.received.length;
  const landed = await started.back(query);
  const told = await socket.next();
  await receiver.got(before + 1);
  const webhook = JSON.parse(receiver.received.at(-1)?.body ?? '{}') as Record<string, unknown>;
  await api.services.logs.flush();
  return { landed, told, webhook, query };
}

describe('the refusal of a code', () => {
  it('says in the words of the provider why, and what to do', async () => {
    const { landed, told, webhook } = await exchangedFor({
      error: 'invalid_client',
      error_description: 'The client secret has expired.',
    });
    const outcome = {
      reason: 'wrong_client',
      fix: expect.stringMatching(/^Copy client id and secret of the app at /) as string,
    };
    expect(dataOf(landed.html)).toMatchObject({
      ...outcome,
      providerCode: 'invalid_client',
      providerDescription: 'The client secret has expired.',
    });
    expect(told).toMatchObject({
      ...outcome,
      error_desc: expect.stringContaining('The client secret has expired') as string,
      provider_error_description: 'The client secret has expired.',
    });
    expect(webhook).toMatchObject({
      error: { provider: { description: 'The client secret has expired.' } },
    });
    const log = await everythingOn(api.services.log);
    expect(log).toContain('What to do: Copy client id and secret');
  });

  it('repeats neither secret, code nor verifier', async () => {
    const { client_secret: secret = '' } = api.played(oauth2).integration as Record<string, string>;
    const started = await api.redirect(oauth2, {
      connect_session_token: await api.token({ end_user: { id: 'u1' } }),
    });
    const query = await started.consent();
    api.played(oauth2).plan('token', {
      status: 400,
      body: {
        error: 'invalid_grant',
        error_description: `${secret} and ${query['code']} for http://gateway.test/oauth/callback`,
      },
    });
    const landed = await started.back(query);
    await api.services.logs.flush();
    const everything = landed.html + (await everythingOn(api.services.log));
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(query['code']);
    expect(dataOf(landed.html)['providerDescription']).toBe(
      '[removed] and [removed] for http://gateway.test/oauth/callback',
    );
  });
});

const dataOf = (html: string): Record<string, unknown> =>
  JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '{}') as Record<string, unknown>;

describe('the error of a provider in the callback', () => {
  const error = {
    error: 'access_denied',
    error_description: 'The administrator has not approved the app',
    error_uri: 'https://docs.provider.example/errors#denied',
  };
  const sentence =
    'answered access_denied: The administrator has not approved the app (https://docs.provider.example/errors#denied).';

  it.each([oauth2, oauth1, app, custom])(
    'of %s is shown on the page, and sent to the socket, the webhook and the log',
    async (key) => {
      const { landed, told, webhook } = await refusedWith(key, error);
      expect(landed.status).toBe(400);
      expect(dataOf(landed.html)).toMatchObject({
        errorType: 'callback_err',
        message: expect.stringContaining(sentence) as string,
        providerCode: 'access_denied',
      });
      expect(told).toMatchObject({
        error_type: 'callback_err',
        error_desc: expect.stringContaining(sentence) as string,
        provider_error: 'access_denied',
      });
      expect(webhook).toMatchObject({
        operation: 'creation',
        success: false,
        error: {
          type: 'invalid_callback',
          description: expect.stringContaining(sentence) as string,
          provider: {
            code: error.error,
            description: error.error_description,
            uri: error.error_uri,
          },
        },
      });
      expect(await everythingOn(api.services.log)).toContain(sentence);
    },
  );

  it.each([
    [
      'HTML',
      '<img src=x onerror=alert(1)></script><script>alert(2)</script>',
      '<img src=x onerror=alert(1)></script><script>alert(2)</script>',
    ],
    ['controls of bidirectional text', 'a\u202Ecod.exe', 'a\\u202ecod.exe'],
    ['terminal codes and lines', 'a\u001b[31m\r\n\tb', 'a\\x1b[31m b'],
  ])('with %s is text', async (_, description, expected) => {
    const { landed, told, webhook } = await refusedWith(oauth2, {
      error: 'server_error',
      error_description: description,
    });
    expect(landed.html).not.toContain('<img');
    expect(landed.html).not.toContain('<script>alert');
    const data = dataOf(landed.html);
    expect(data['message']).toContain(`answered server_error: ${expected}`);
    expect(told['error_desc']).toBe(data['message']);
    expect(webhook).toMatchObject({ error: { provider: { description: expected } } });
    const everything =
      landed.html + JSON.stringify(webhook) + (await everythingOn(api.services.log));
    expect(everything).not.toContain('\u202E');
    expect(everything).not.toContain('\u001b[31m');
  });

  it('is cut where it is long', async () => {
    const { webhook, told } = await refusedWith(oauth2, {
      error: 'server_error',
      error_description: '\u{1F600}'.repeat(2_000),
      error_uri: `https://a.example/${'u'.repeat(3_000)}`,
    });
    const { provider } = webhook['error'] as { provider: Record<string, string> };
    const max = limits.providerErrorCharsMax;
    expect(Array.from(provider['description'] ?? '').length).toBe(max);
    expect(provider['description']?.endsWith('…')).toBe(true);
    expect(provider['description']?.isWellFormed()).toBe(true);
    expect(provider['uri']).toBeNull();
    expect(String(told['error_desc']).length).toBeLessThan(3 * max);
  });

  it.each([
    ['a script', 'javascript:alert(1)'],
    ['no URL', 'see the docs'],
    ['a password', 'https://user:canary-password@provider.example/'],
  ])('with %s as its address is shown without it', async (_, uri) => {
    const { webhook, told } = await refusedWith(oauth2, { error: 'server_error', error_uri: uri });
    expect(webhook).toMatchObject({ error: { provider: { uri: null } } });
    expect(told['error_desc']).not.toContain(uri);
  });

  it.each([
    ['with spaces', 'The user said no', 'The user said no'],
    ['named like a method of objects', 'constructor', 'constructor'],
    ['with characters that RFC 6749 excludes', 'a"<b>\u202E', null],
    ['that is long', 'x'.repeat(300), null],
  ])('whose code is a text %s is passed on or left out', async (_, code, expected) => {
    const { webhook, told } = await refusedWith(oauth2, { error: code });
    expect(webhook).toMatchObject({ error: { provider: { code: expected } } });
    expect(told['provider_error']).toBe(expected ?? undefined);
  });

  it('does not repeat what is secret', async () => {
    const { clientSecret, client_secret } = api.played(oauth2).integration as Record<
      string,
      string
    >;
    const secret = clientSecret ?? client_secret ?? '';
    expect(secret.length).toBeGreaterThan(8);
    const { landed, told, webhook } = await refusedWith(oauth2, {
      error: 'invalid_request',
      error_description: `The secret ${secret} (${Buffer.from(secret).toString('base64')}) and access_token=canary-access-1 are wrong`,
      error_uri: `https://provider.example/?s=${secret}`,
    });
    const everything =
      landed.html + JSON.stringify([told, webhook]) + (await everythingOn(api.services.log));
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain('canary-access-1');
    expect(dataOf(landed.html)['message']).toContain('The secret [removed]');
  });

  it('of earlier standards is read, too', async () => {
    const { told } = await refusedWith(oauth1, {
      oauth_problem: 'permission_denied',
      oauth_problem_advice: 'Ask your administrator',
    });
    expect(told['error_desc']).toContain('answered permission_denied: Ask your administrator');
  });

  it('without a code says what the provider says', async () => {
    const { told } = await refusedWith(oauth2, { error_description: 'Something went wrong' });
    expect(told['error_desc']).toContain('answered with an error: Something went wrong');
  });
});

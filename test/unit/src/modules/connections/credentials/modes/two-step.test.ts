import { describe, expect, it } from 'vitest';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';

const play = playingInEachTest();
const field = { type: 'string', title: 'Field', description: 'A field.' } as const;
const twoStep: Partial<Provider> = {
  auth_mode: 'TWO_STEP',
  credentials: { user: field, key: { ...field, secret: true } },
  token_url: 'https://crm.example/login',
  token_params: { login: { user: '${credentials.user}', key: '${credentials.key}' } },
  token_response: { token: 'data.token' },
};
const flat = { user: '${credentials.user}', key: '${credentials.key}' };
const ends = (more: object) => ({ token_response: { token: 'data.token', ...more } });

describe.each<[string, Partial<Provider>]>([
  ['JSON', {}],
  ['a form', { body_format: 'form', token_params: flat }],
  ['XML', { body_format: 'xml', token_params: { login: flat } }],
  ['GET', { token_request_method: 'GET', token_params: flat }],
  ['headers', { token_headers: { 'x-key': '${credentials.key}' } }],
  ['a time of its end', ends({ token_expiration: 'data.ends' })],
  ['a length', ends({ token_expiration: 'in', token_expiration_strategy: 'expireIn' })],
  [
    'cookies',
    {
      token_response_headers: ['set-cookie'],
      proxy: {
        base_url: 'https://api.crm.example',
        headers: { cookie: '${credentials._cookies}' },
      },
    },
  ],
  [
    'more steps',
    {
      additional_steps: [
        { token_url: 'https://crm.example/second', token_params: { ticket: '${step1.a.ticket}' } },
        {
          token_url: 'https://crm.example/third',
          token_params: { ticket: '${step2.ticket}', first: '${step1.a.ticket}' },
          token_headers: { 'x-ticket': '${step2.ticket}' },
        },
      ],
    },
  ],
])('a login with %s', (_, more) => {
  it('gives a token that the API takes, and another one when that ends', async () => {
    const caller = play({ ...twoStep, ...more });
    const first = await caller.import();
    expect(await caller.call(first)).toBe(200);
    caller.endTokens();
    expect(await caller.call(first)).toBe(401);
    const { rules, context, form } = caller;
    const second = await rules.renewal!.renew(first.credentials as Credentials, context());
    expect(await caller.call(second)).toBe(200);
    const given = rules.form!.shape(context().provider).parse(form);
    expect(await caller.call(await rules.form!.submit(given, context()))).toBe(200);
  });
});

describe('a login', () => {
  it('with a refresh token is renewed with that, and with the next one', async () => {
    const caller = play({
      ...twoStep,
      ...ends({ refresh_token: 'data.refresh' }),
      refresh_url: 'https://crm.example/refresh',
      refresh_token_params: { refresh: '${refresh_token}' },
    });
    const first = await caller.import();
    const { rules, context, call, outcomes } = caller;
    const second = await rules.renewal!.renew(first.credentials as Credentials, context());
    const third = await rules.renewal!.renew(second.credentials as Credentials, context());
    expect(await call(third)).toBe(200);
    const again = rules.renewal!.renew(second.credentials as Credentials, context());
    await expect(again).rejects.toMatchObject({
      failure: { code: 'two_step_credentials_fetch_error', providerCode: 'invalid_grant' },
    });
    expect(outcomes('token')).toEqual(['granted']);
    expect(outcomes('refresh')).toEqual(['granted', 'granted', 'reused_refresh_token']);
  });

  it('with a signed token shows one that the provider can verify', async () => {
    const caller = play({
      ...twoStep,
      token: {
        signing_key: '${credentials.key}',
        expires_in_ms: 60_000,
        payload: { iss: '${credentials.user}' },
      },
      signature: { protocol: 'RSA' },
      token_params: { assertion: '${token}' },
    });
    expect(await caller.call(await caller.import())).toBe(200);
  });

  it('uses a one-time answer of the person once, and stores nothing of it', async () => {
    const { rules, context, form, plan } = play({
      ...twoStep,
      token_params: { code: '${assertionOption.code}' },
    });
    plan('token', { status: 200, body: { data: { token: 't' } } });
    const { credentials } = await rules.form!.submit(
      { ...form, assertionOption: { code: '123456' } },
      context(),
    );
    expect(JSON.stringify(credentials)).not.toContain('123456');
  });

  it('that is wrong is refused, and the refusal is definitive', async () => {
    const caller = play(twoStep);
    caller.plan('token', { status: 401, body: { message: 'wrong' } });
    await expect(caller.import({ key: 'wrong' })).rejects.toMatchObject({
      failure: { code: 'two_step_credentials_fetch_error', isDefinitive: true },
    });
  });
});

describe('a session of BILL', () => {
  const bill: Partial<Provider> = {
    auth_mode: 'BILL',
    token_url: 'https://crm.example/login',
    proxy: {
      base_url: 'https://api.crm.example',
      headers: { sessionid: '${credentials.session_id}', devkey: '${credentials.dev_key}' },
    },
  };

  it('is logged in, and again when it ends', async () => {
    const caller = play(bill);
    const first = await caller.import();
    expect(await caller.call(first)).toBe(200);
    caller.endTokens();
    expect(await caller.call(first)).toBe(401);
    const held = first.credentials as Credentials;
    const second = await caller.rules.renewal!.renew(held, caller.context());
    expect(await caller.call(second)).toBe(200);
    expect(second.expiresAt).toBeGreaterThan(Date.now() + 34 * 60_000);
  });

  it('with a wrong password is refused', async () => {
    const caller = play(bill);
    await expect(caller.import({ password: 'wrong' })).rejects.toMatchObject({
      failure: { code: 'invalid_credentials', providerCode: 'invalid_login', isDefinitive: true },
    });
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';

const play = playingInEachTest();
const app: Partial<Provider> = {
  auth_mode: 'APP',
  authorization_url: '${connectionConfig.appPublicLink}/installations/new',
  token_url: 'https://api.crm.example/installations/${connectionConfig.installation_id}/tokens',
};
const custom: Partial<Provider> = {
  auth_mode: 'CUSTOM',
  authorization_url: 'https://crm.example/authorize',
  token_url: {
    OAUTH2: 'https://crm.example/token',
    APP: 'https://api.crm.example/installations/${connectionConfig.installation_id}/tokens',
  },
};

describe('an app', () => {
  it('that is installed gets tokens of the installation', async () => {
    const { connect, call, rules, context, outcomes } = play(app);
    const first = await connect();
    expect(first.connectionConfig).toMatchObject({ installation_id: expect.any(String) as string });
    expect(await call(first)).toBe(200);
    const config = context({ ...first.connectionConfig });
    const second = await rules.renewal!.renew(first.credentials as Credentials, config);
    expect(await call(second)).toBe(200);
    expect(outcomes('installation')).toEqual(['granted', 'granted']);
  });

  it('is imported by its ids, and a token is fetched at once', async () => {
    const caller = play(app);
    expect(await caller.call(await caller.import())).toBe(200);
    await expect(caller.import({ installation_id: '1' })).rejects.toMatchObject({
      failure: { code: 'invalid_credentials', providerStatus: 404 },
    });
    await expect(caller.import({ app_id: '1' })).rejects.toMatchObject({
      failure: { providerStatus: 401, isDefinitive: true },
    });
  });

  it('whose installation an owner has to approve first is not connected', async () => {
    const { connect, refuses } = play(app);
    refuses('request');
    await expect(connect()).rejects.toMatchObject({ failure: { code: 'wrong_auth_mode' } });
  });
});

describe('the private key of an app', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const isTaken = (key: string): boolean => {
    const { rules } = play(app);
    const fields = { type: 'APP', app_id: '7', app_link: 'https://crm.example/app' };
    return rules.integration!.shape.safeParse({ ...fields, private_key: key }).success;
  };

  it.each([
    ['as written', pem],
    ['on one line', pem.replaceAll('\n', ' ')],
    ['with literal \\n', pem.replaceAll('\n', '\\n')],
    ['in base64', pem.split('\n').slice(1, -2).join('')],
    ['as PKCS 8', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
  ])('is taken %s', (_, key) => expect(isTaken(key)).toBe(true));

  it.each([
    [
      'of another kind',
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ],
    ['that is cut', pem.slice(0, 400)],
    ['that is none', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'],
  ])('is refused %s', (_, key) => expect(isTaken(key)).toBe(false));
});

describe('an app with a user', () => {
  it('that is installed on the way has both halves, and calls as the app', async () => {
    const { connect, call, outcomes } = play(custom, { installsApp: true });
    const obtained = await connect();
    expect(obtained.credentials).toMatchObject({
      type: 'CUSTOM',
      app: { type: 'APP' },
      user: { type: 'OAUTH2' },
    });
    expect(obtained.connectionConfig).toMatchObject({ pending: false });
    expect(await call(obtained)).toBe(200);
    expect(outcomes('token')).toEqual(['granted']);
    expect(outcomes('installation')).toEqual(['granted']);
  });

  it('that is not installed yet is pending with the half of the user', async () => {
    const { connect, call, outcomes } = play(custom);
    const obtained = await connect();
    expect(obtained).toMatchObject({
      credentials: { app: null, user: { type: 'OAUTH2' } },
      connectionConfig: { pending: true },
    });
    expect(await call(obtained)).toBe(200);
    expect(outcomes('installation')).toEqual([]);
  });

  it('renews both halves, and goes on without the user when only that half fails', async () => {
    const { connect, call, rules, context, plan, endTokens } = play(custom, { installsApp: true });
    const first = await connect();
    endTokens();
    const config = context({ ...first.connectionConfig });
    const second = await rules.renewal!.renew(first.credentials as Credentials, config);
    expect(second.credentials).toMatchObject({ app: { type: 'APP' }, user: { type: 'OAUTH2' } });
    expect(await call(second)).toBe(200);
    plan('token', { status: 400, body: { error: 'invalid_grant' } });
    const third = await rules.renewal!.renew(second.credentials as Credentials, config);
    expect(third.credentials).toMatchObject({ app: { type: 'APP' }, user: null });
    expect(await call(third)).toBe(200);
    plan('installation', { status: 403, body: { error: 'suspended' } });
    const fourth = rules.renewal!.renew(third.credentials as Credentials, config);
    await expect(fourth).rejects.toMatchObject({ failure: { providerStatus: 403 } });
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

const play = playingInEachTest();
const entry = (name: string): Provider => builtInCatalogue().find(name)!;
const granted = { status: 200, body: { access_token: 'at-1', expires_in: 3600 } };

/** The parameters of a token call. */
const paramsOf = ({ body }: { readonly body: string }) =>
  Object.fromEntries(new URLSearchParams(body));

const pemOf = (key: ReturnType<typeof generateKeyPairSync>['privateKey']): string =>
  key.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('a service account of Google', () => {
  const account = entry('google-service-account');

  it('signs an assertion for its scopes, and a new one for each token', async () => {
    const caller = play(account);
    const first = await caller.import();
    expect(await caller.call(first)).toBe(200);
    expect(first.expiresAt! - Date.now()).toBeGreaterThan(3_500_000);
    caller.endTokens();
    const renewed = await caller.rules.renewal!.renew(
      first.credentials as Credentials,
      caller.context(),
    );
    expect(await caller.call(renewed)).toBe(200);
    const calls = caller.asked.filter(({ role }) => role === 'token').map(paramsOf);
    expect(calls.map((params) => params['grant_type'])).toEqual(
      Array(2).fill('urn:ietf:params:oauth:grant-type:jwt-bearer'),
    );
    expect(decodeJwt(calls[0]!['assertion']!)).toMatchObject({
      aud: 'https://oauth2.googleapis.com/token',
      scope: account.connection_config?.['scopes']?.example,
    });
  });

  it.each([
    ['acts for a user of the domain', { subject: 'ada@acme.example' }, 'ada@acme.example'],
    ['acts for itself where no user is entered', { subject: '' }, undefined],
  ])('%s', async (_, more, subject) => {
    const caller = play(account);
    caller.plan('token', granted);
    await caller.import(more);
    const { assertion = '' } = paramsOf(caller.asked[0]!);
    expect(decodeJwt(assertion).sub).toBe(subject);
  });

  it('whose grant is refused has a definitive failure without the key', async () => {
    const caller = play(account);
    const refusal = { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' };
    caller.plan('token', { status: 400, body: refusal });
    const error = (await caller.import().catch((cause: unknown) => cause)) as Error;
    expect(error).toMatchObject({
      failure: { isDefinitive: true, endsValidToken: true, providerCode: 'invalid_grant' },
    });
    expect(error.message).not.toContain('PRIVATE KEY');
  });
});

describe('an assertion for any server (RFC 7523)', () => {
  const generic = entry('jwt-bearer');

  it.each(['RS256', 'ES256'])('is signed with %s', async (algorithm) => {
    const { privateKey, publicKey } =
      algorithm === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const caller = play(generic);
    caller.plan('token', granted);
    const own = { privateKey: pemOf(privateKey), algorithm, keyId: 'k1', subject: '' };
    const { credentials } = await caller.import({ ...own, issuer: 'client-1' });
    expect(credentials).toMatchObject({ token: 'at-1' });
    const { assertion = '' } = paramsOf(caller.asked[0]!);
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: algorithm, typ: 'JWT', kid: 'k1' });
    const { payload } = await jwtVerify(assertion, publicKey);
    const jti = expect.any(String) as string;
    expect(payload).toMatchObject({ iss: 'client-1', sub: 'client-1', jti });
    expect(payload.exp! - payload.iat!).toBe(300);
  });
});

describe('a SAML assertion in two steps (RFC 7522)', () => {
  const field = { type: 'string', title: 'Field', description: 'A field.' } as const;
  const saml: Partial<Provider> = {
    auth_mode: 'TWO_STEP',
    credentials: { clientId: field, userId: field, privateKey: { ...field, secret: true } },
    body_format: 'form',
    token_url: 'https://crm.example/idp',
    token_params: {
      client_id: '${credentials.clientId}',
      user_id: '${credentials.userId}',
      private_key: '${credentials.privateKey}',
    },
    additional_steps: [
      {
        token_url: 'https://crm.example/token',
        token_params: {
          grant_type: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
          client_id: '${credentials.clientId}',
          assertion: '${step1.token}',
        },
      },
    ],
    token_response: {
      token: 'access_token',
      token_expiration: 'expires_in',
      token_expiration_strategy: 'expireIn',
    },
  };

  it('is obtained, exchanged, and obtained again when the token ends', async () => {
    const caller = play(saml);
    const first = await caller.import();
    expect(await caller.call(first)).toBe(200);
    caller.endTokens();
    expect(await caller.call(first)).toBe(401);
    const { rules, context } = caller;
    const renewed = await rules.renewal!.renew(first.credentials as Credentials, context());
    expect(await caller.call(renewed)).toBe(200);
    expect(caller.outcomes('token')).toEqual(['granted', 'granted']);
    expect(caller.outcomes('step1')).toEqual(['granted', 'granted']);
  });

  it('may come as plain text, and is not stored', async () => {
    const caller = play(saml);
    const text = Buffer.from('<saml:Assertion>acme</saml:Assertion>').toString('base64url');
    caller.plan('token', { status: 200, body: text });
    caller.plan('step1', granted);
    const { credentials } = await caller.import();
    const [, second] = caller.asked;
    expect(paramsOf(second!)).toMatchObject({ assertion: text });
    expect(JSON.stringify(credentials)).not.toContain(text);
  });

  it('that is refused ends the connection', async () => {
    const caller = play(saml);
    caller.plan('step1', { status: 400, body: { error: 'invalid_grant' } });
    await expect(caller.import()).rejects.toMatchObject({ failure: { isDefinitive: true } });
  });
});

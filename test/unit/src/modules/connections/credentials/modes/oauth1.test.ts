import { describe, expect, it } from 'vitest';
import { visit } from '#fake-providers/server.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { playingInEachTest } from '#test/support/fakes/fake-auth/playing.ts';

const playing = playingInEachTest();
const play = (more: Partial<Provider> = {}) =>
  playing({
    auth_mode: 'OAUTH1',
    request_url: 'https://crm.example/request',
    authorization_url: 'https://crm.example/authorize',
    token_url: 'https://crm.example/token',
    ...more,
  });

describe.each<[string, Partial<Provider>]>([
  ['HMAC-SHA1', {}],
  ['PLAINTEXT', { signature_method: 'PLAINTEXT' }],
  ['GET', { token_request_method: 'GET' }],
  ['parameters of its own', { request_params: { 'x scope': 'read & write' } }],
])('OAuth 1 with %s', (_, more) => {
  it('trades request token and verifier for a token that signs calls of every kind', async () => {
    const { connect, call, outcomes } = play(more);
    const obtained = await connect();
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const options of [
      { path: '/me?b=2&a=1%20x&a=%2B' },
      { method: 'POST', data: 'status=Hello+%26+%25&b=', headers: form },
      { method: 'POST', data: { status: 'a b', list: ['1', '2'] }, headers: form },
      { method: 'POST', data: Buffer.from('status=bytes+%2B'), headers: form },
      { method: 'PUT', data: { a: 1 } },
      { method: 'DELETE' },
    ]) {
      expect(await call(obtained, options)).toBe(200);
    }
    expect(outcomes('request')).toEqual(['granted']);
    expect(outcomes('token')).toEqual(['granted']);
  });
});

describe('OAuth 1', () => {
  it("keeps the connection's data in the response", async () => {
    const { connect, toldConfig } = play({ token_response_metadata: ['user_id'] });
    expect((await connect()).connectionConfig).toEqual(toldConfig);
  });

  it('is refused with a wrong verifier, and with a request token that was used', async () => {
    const { rules, redirectContext, outcomes } = play();
    const asked = redirectContext();
    const { url, kept } = await rules.redirect!.start(asked);
    const back = await visit(url);
    const wrong = { ...back, oauth_verifier: 'wrong' };
    const refused = { failure: { code: 'request_token_external_error', providerStatus: 401 } };
    await expect(rules.redirect!.finish(wrong, kept, asked)).rejects.toMatchObject(refused);
    await rules.redirect!.finish(back, kept, asked);
    await expect(rules.redirect!.finish(back, kept, asked)).rejects.toMatchObject(refused);
    expect(outcomes('token')).toEqual(['wrong_verifier', 'granted', 'reused_request_token']);
  });

  it('is not finished with the answer to another request token', async () => {
    const { rules, redirectContext, outcomes } = play();
    const asked = redirectContext();
    const first = await rules.redirect!.start(asked);
    const second = await rules.redirect!.start(asked);
    const finishing = rules.redirect!.finish(await visit(first.url), second.kept, asked);
    await expect(finishing).rejects.toMatchObject({ failure: { code: 'invalid_credentials' } });
    expect(outcomes('token')).toEqual([]);
  });

  it('is refused with a wrong consumer secret', async () => {
    const { rules, redirectContext, outcomes } = play();
    const asked = redirectContext();
    const client = { ...asked.client!, clientSecret: 'wrong' };
    await expect(rules.redirect!.start({ ...asked, client })).rejects.toMatchObject({
      failure: { code: 'request_token_external_error', isDefinitive: true },
    });
    expect(outcomes('request')).toEqual(['wrong_signature']);
  });

  it('that the person refuses ends without a token', async () => {
    const { connect, refuses } = play();
    refuses('denied');
    await expect(connect()).rejects.toMatchObject({ failure: { code: 'invalid_credentials' } });
  });

  it('signs calls with the token, and with no other secret', async () => {
    const { connect, call, outcomes } = play();
    const obtained = await connect();
    const credentials = { ...obtained.credentials!, oauth_token_secret: 'wrong' };
    expect(await call({ ...obtained, credentials })).toBe(401);
    expect(outcomes('api')).toEqual(['wrong_signature']);
  });
});

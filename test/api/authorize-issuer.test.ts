import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedFetch } from '#test/support/judges/answers.ts';
import {
  openPageSocket,
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';

const [named, unnamed] = ['named', 'unnamed'] as const;
const issuer = 'https://issuer.example/oauth';

let api: AuthorizingApi;
beforeAll(async () => {
  const tenant = { type: 'string', title: 'Tenant', description: 'Of the account.' } as const;
  const ofTenant = { tenant: { ...tenant, example: 'acme' } };
  api = await startAuthorizing([
    { provider: providerOf('OAUTH2', { name: named, authorization_issuer: issuer }) },
    { provider: providerOf('OAUTH2', { name: unnamed }) },
    {
      provider: providerOf('OAUTH2', {
        name: 'tenants',
        authorization_issuer: 'https://${connectionConfig.tenant}.issuer.example',
        connection_config: ofTenant,
      }),
    },
  ]);
});
afterAll(() => api[Symbol.asyncDispose]());

const exchanges = (key: string): number => api.played(key).outcomes('token').length;
const connections = async (): Promise<number> => {
  const { body } = await api.call('GET', '/connections');
  return (body as { connections: unknown[] }).connections.length;
};

/** A person comes back with these issuers in place of the provider's own. */
async function landed(key: string, issuers: readonly string[], path = '/oauth/callback') {
  await using socket = await openPageSocket(api.url);
  const started = await api.redirect(key, { ws_client_id: socket.id });
  const query = new URLSearchParams(await started.consent());
  query.delete('iss');
  for (const one of issuers) query.append('iss', one);
  const before = { asked: exchanges(key), made: await connections() };
  const answer = await checkedFetch(`${api.url}${path}?${query.toString()}`, {
    redirect: 'manual',
    headers: { cookie: started.cookie },
  });
  return {
    status: answer.status,
    html: await answer.text(),
    told: await socket.next(),
    asked: exchanges(key) - before.asked,
    made: (await connections()) - before.made,
  };
}

describe('the callback of a provider whose definition names its issuer', () => {
  it('is taken from that issuer', async () => {
    const done = await landed(named, [issuer]);
    expect([done.status, done.asked, done.made]).toEqual([200, 1, 1]);
    expect(done.told).toMatchObject({ message_type: 'success' });
  });

  it.each([
    ['no issuer', [], 'names no issuer'],
    ['an empty one', [''], 'names another'],
    ['another', ['https://evil.example'], 'https://evil.example'],
    ['one that differs by a slash', [`${issuer}/`], `${issuer}/`],
    ['one that differs by its case', ['https://ISSUER.example/oauth'], 'names'],
    ['the right one and another', [issuer, 'https://evil.example'], 'names several'],
    ['another and the right one', ['https://evil.example', issuer], 'names several'],
    ['the right one twice', [issuer, issuer], 'names several'],
    ['no URL', ['<script>alert(1)</script>'], 'names another'],
  ])('is refused with %s, and its code is not presented', async (_, issuers, why) => {
    const refused = await landed(named, issuers);
    expect([refused.status, refused.asked, refused.made]).toEqual([400, 0, 0]);
    expect(refused.told).toMatchObject({ message_type: 'error', error_type: 'callback_err' });
    expect(refused.told['error_desc']).toContain(issuer);
    expect(refused.told['error_desc']).toContain(why);
    expect(refused.told['error_desc']).not.toContain('<');
    expect(refused.told['log_id']).toEqual(expect.any(String));
  });

  it('is refused as one of a list too', async () => {
    const started = await api.redirect(named);
    const query = await started.consent();
    const { iss, ...rest } = query;
    const refused = await started.back({ ...rest, 'iss[]': iss ?? '' });
    expect(refused.status).toBe(400);
  });

  it('is checked wherever the browser comes back to', async () => {
    const refused = await landed(named, ['https://evil.example'], '/app-auth/connect');
    expect([refused.status, refused.asked]).toEqual([400, 0]);
  });

  it('is not believed about an error either, unless it is from that issuer', async () => {
    api.played(named).refuses('access_denied');
    const foreign = await landed(named, ['https://evil.example']);
    const without = await landed(named, []);
    const own = await landed(named, [issuer]);
    api.played(named).refuses(null);
    for (const { status, told } of [foreign, without]) {
      expect(status).toBe(400);
      expect(told).toMatchObject({ message_type: 'error', error_type: 'callback_err' });
      expect(told).not.toHaveProperty('provider_error');
      expect(told['error_desc']).not.toContain('access_denied');
    }
    expect(own.told).toMatchObject({ provider_error: 'access_denied' });
  });

  it('is held against the issuer of the account that is connected', async () => {
    const done = await landed('tenants', ['https://acme.issuer.example']);
    expect(done.status).toBe(200);
    const other = await landed('tenants', ['https://other.issuer.example']);
    expect([other.status, other.asked]).toEqual([400, 0]);
  });
});

describe('the callback of a provider whose definition names no issuer', () => {
  it.each([[[]], [['https://any.example']], [['a', 'b']]])('is taken with %j', async (issuers) => {
    const done = await landed(unnamed, issuers);
    expect([done.status, done.asked, done.made]).toEqual([200, 1, 1]);
  });
});

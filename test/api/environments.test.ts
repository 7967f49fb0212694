import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startApiWithProviders,
  type ApiWithProviders,
} from '#test/support/worlds/api-with-providers.ts';
import { codeOf } from '#test/support/worlds/api.ts';

let api: ApiWithProviders;
beforeAll(async () => {
  api = await startApiWithProviders();
});
afterAll(() => api[Symbol.asyncDispose]());

describe('environments and keys', () => {
  const account = <T extends object>(options: T) => ({ key: api.keys.account, ...options });

  it('are made, changed and deleted', async () => {
    const made = await api.call('POST', '/environments', account({ body: { name: 'staging' } }));
    expect(made.body).toEqual({ data: { id: expect.any(Number) as number, name: 'staging' } });
    const path = `/environments/${made.at('data.id') as number}`;
    const taken = await api.call('POST', '/environments', account({ body: { name: 'staging' } }));
    expect(codeOf(taken)).toBe('409 conflict');
    const list = await api.call('GET', '/environments', account({}));
    expect((list.at('data') as { name: string }[]).map(({ name }) => name)).toEqual([
      'dev',
      'prod',
      'staging',
    ]);
    const body = { webhook_url: 'https://app.example/hook', on_sync_error: false };
    const patched = await api.call('PATCH', path, account({ body }));
    expect(patched.at('data')).toMatchObject({
      ...body,
      webhook_url_secondary: null,
      name: 'staging',
    });
    const cleared = await api.call('PATCH', path, account({ body: { webhook_url: '' } }));
    expect(cleared.at('data.webhook_url')).toBeNull();
    expect((await api.call('GET', path, account({}))).at('data')).toEqual(cleared.at('data'));
    expect((await api.call('DELETE', path, account({}))).status).toBe(204);
    expect(codeOf(await api.call('GET', path, account({})))).toBe('404 not_found');
    const prod = (list.at('data') as { id: number; name: string }[]).find(
      ({ name }) => name === 'prod',
    )!;
    const kept = await api.call('DELETE', `/environments/${prod.id}`, account({}));
    expect(codeOf(kept)).toBe('400 cannot_delete_prod_environment');
  });

  it.each([
    ['auth', ['environment:connect_sessions:write']],
    ['deploy', ['environment:deploy']],
    [
      'backend',
      ['connections:read', 'records:read', 'actions:execute', 'syncs:execute', 'proxy'].map(
        (scope) => `environment:${scope}`,
      ),
    ],
  ])('have keys of the profile %s', async (profile, scopes) => {
    const environments = await api.call('GET', '/environments', account({}));
    const of = { environment_id: environments.at('data.0.id'), display_name: profile, profile };
    const make = (body: object) => api.call('POST', '/environment/api-keys', account({ body }));
    expect((await make(of)).at('data.scopes')).toEqual(scopes);
    expect(codeOf(await make({ ...of, scopes }))).toBe('400 invalid_body');
  });

  it('have keys that work at once, are masked, revealed, and end with their deletion', async () => {
    const environments = await api.call('GET', '/environments', account({}));
    const { id } = (environments.at('data') as { id: number; name: string }[])[0]!;
    const body = {
      environment_id: id,
      display_name: 'ci',
      scopes: ['environment:deploy', 'environment:integrations:*'],
    };
    const made = await api.call('POST', '/environment/api-keys', account({ body }));
    expect(made.at('data')).toMatchObject({ display_name: 'ci', scopes: body.scopes });
    const { secret, id: keyId } = made.at('data') as { secret: string; id: string };
    expect(secret).toMatch(/^svc_env_[\w-]{43}$/);
    expect((await api.call('GET', '/integrations', { key: secret })).status).toBe(200);
    expect((await api.call('GET', '/connections', { key: secret })).status).toBe(403);

    const list = await api.call('GET', `/environment/api-keys?environment_id=${id}`, account({}));
    const names = (list.at('data') as { display_name: string }[]).map((key) => key.display_name);
    expect(names[0]).toBe('Default - Full access');
    const listed = (list.at('data') as { id: string }[]).find((key) => key.id === keyId);
    expect(listed).toMatchObject({ secret: `****${secret.slice(-4)}` });
    expect(listed).toMatchObject({ last_used_at: expect.stringMatching(/^2/) as string });
    expect(JSON.stringify(list.body)).not.toContain(secret);
    const reveal = await api.call('POST', `/environment/api-keys/${keyId}/reveal`, account({}));
    expect(reveal.at('data.secret')).toBe(secret);
    expect(reveal.headers.get('cache-control')).toBe('no-store');

    const twice = await api.call('POST', '/environment/api-keys', account({ body }));
    expect(codeOf(twice)).toBe('409 conflict');
    for (const scope of ['account:*', '*', 'environment:record:read', 'environment:record:*']) {
      const wrong = { ...body, display_name: 'w', scopes: ['environment:deploy', scope] };
      const refused = await api.call('POST', '/environment/api-keys', account({ body: wrong }));
      expect([codeOf(refused), refused.at('error.errors.0.path')]).toEqual([
        '400 invalid_body',
        ['scopes', '1'],
      ]);
    }
    const gone = { environment_id: id, key_id: keyId };
    const removed = await api.call('DELETE', '/environment/api-keys', account({ body: gone }));
    expect(removed.body).toEqual({ success: true });
    expect(codeOf(await api.call('GET', '/integrations', { key: secret }))).toBe(
      '401 unknown_account',
    );
    const again = await api.call('DELETE', '/environment/api-keys', account({ body: gone }));
    expect(codeOf(again)).toBe('404 not_found');
  });

  it('have account keys, which nothing shows again', async () => {
    const made = await api.call(
      'POST',
      '/account/api-keys',
      account({ body: { display_name: 'once' } }),
    );
    const { id, secret } = made.at('data') as { id: string; secret: string };
    const reveal = await api.call('POST', `/environment/api-keys/${id}/reveal`, account({}));
    expect(codeOf(reveal)).toBe('404 not_found');
    const listed = await api.call('GET', '/account/api-keys', account({}));
    expect(JSON.stringify(listed.body)).toContain(`****${secret.slice(-4)}`);
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    await api.call('DELETE', '/account/api-keys', account({ body: { key_id: id } }));
  });

  it('have account keys, of which none deletes itself', async () => {
    const body = { display_name: 'second' };
    const made = await api.call('POST', '/account/api-keys', account({ body }));
    const { id, secret } = made.at('data') as { id: string; secret: string };
    expect((await api.call('GET', '/environments', { key: secret })).status).toBe(200);
    expect(codeOf(await api.call('GET', '/integrations', { key: secret }))).toBe('403 forbidden');
    const self = { key: secret, body: { key_id: id } };
    expect(codeOf(await api.call('DELETE', '/account/api-keys', self))).toBe('409 conflict');
    const removed = await api.call(
      'DELETE',
      '/account/api-keys',
      account({ body: { key_id: id } }),
    );
    expect(removed.body).toEqual({ success: true });
    expect((await api.call('GET', '/environments', { key: secret })).status).toBe(401);
  });

  it('have variables', async () => {
    const put = await api.call('PUT', '/environment-variables/TOKEN', { body: { value: 'v' } });
    expect(put.body).toEqual({ name: 'TOKEN', value: 'v' });
    expect((await api.call('GET', '/environment-variables')).body).toEqual([
      { name: 'TOKEN', value: 'v' },
    ]);
    const key = await api.keyWith('environment:variables:read');
    const refused = await api.call('PUT', '/environment-variables/A', {
      key,
      body: { value: 'v' },
    });
    expect(codeOf(refused)).toBe('403 forbidden');
    expect((await api.call('DELETE', '/environment-variables/TOKEN')).status).toBe(200);
    const gone = await api.call('DELETE', '/environment-variables/TOKEN');
    expect(codeOf(gone)).toBe('404 not_found');
  });

  it('have a signing key that rotates once a day, and can be read', async () => {
    const path = '/environment/webhook-signing-key/rotate';
    const read = () => api.call('GET', '/environment/webhook-signing-key', { key: api.keys.prod });
    const before = await read();
    const first = before.at('data.webhook_signing_key');
    expect(before.body).toEqual({
      data: { webhook_signing_key: first, previous_webhook_signing_key: null },
    });
    expect(before.headers.get('cache-control')).toBe('no-store');
    const rotated = await api.call('POST', path, { key: api.keys.prod });
    expect(rotated.at('data.webhook_signing_key')).toMatch(/^whsec_[\w+/]{48}$/);
    expect(codeOf(await api.call('POST', path, { key: api.keys.prod }))).toBe(
      '409 multiple_webhook_signing_keys',
    );
    expect((await read()).at('data')).toEqual({
      webhook_signing_key: rotated.at('data.webhook_signing_key'),
      previous_webhook_signing_key: first,
    });
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { compactDecrypt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import {
  startApiWithProviders,
  type ApiWithProviders,
} from '#test/support/worlds/api-with-providers.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import { everythingOn } from '#test/support/worlds/control.ts';

let api: ApiWithProviders;
let environmentId: number;
const clock = movedClock();
beforeAll(async () => {
  api = await startApiWithProviders({ clock });
  const listed = await api.call('GET', '/environments', { key: api.keys.account });
  environmentId = listed.at('data.0.id') as number;
  for (const n of [1, 2, 3]) {
    const body = {
      provider_config_key: 'oauth',
      connection_id: `c${n}`,
      created_at: `2024-01-0${n}T00:00:00Z`,
      metadata: { webhookSecret: `metadata-secret-${n}` },
      connection_config: { region: 'eu', refresh_token: `config-secret-${n}` },
      end_user: { id: 'u1' },
      organization: { id: 'acme', display_name: 'Acme' },
      credentials: {
        type: 'OAUTH2',
        access_token: `access-secret-${n}`,
        refresh_token: `refresh-secret-${n}`,
      },
    };
    expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
  }
});
afterAll(() => api[Symbol.asyncDispose]());

const keys = [
  ['RSA-OAEP-256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['ECDH-ES', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ['ECDH-ES', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
  ['ECDH-ES', generateKeyPairSync('x25519')],
] as const;
const jwkOf = (at: number): JsonObject =>
  keys[at]![1].publicKey.export({ format: 'jwk' }) as JsonObject;

const grant = (public_key: unknown, key = api.keys.account, id = environmentId) =>
  api.call('POST', `/environments/${id}/exports`, { key, body: { public_key } });
const page = (body: object, key = api.keys.dev) =>
  api.call('POST', '/connections/export', { key, body });

describe('an export of connections', () => {
  it.each(keys)('is a JWE with %s that only the private key opens', async (alg, pair) => {
    const granted = await grant(pair.publicKey.export({ format: 'jwk' }));
    expect(codeOf(granted)).toBe('201 ');
    const answer = await page({ grant: granted.at('data.grant') });
    const text = JSON.stringify(answer.body);
    expect(text).not.toMatch(/secret-/);
    const sealed = answer.at('connections.0.sealed') as string;
    expect(decodeProtectedHeader(sealed)).toMatchObject({
      alg,
      enc: 'A256GCM',
      cty: 'json',
      kid: granted.at('data.key_id'),
      sub: 'connections/oauth/c3',
    });
    const { plaintext } = await compactDecrypt(sealed, pair.privateKey);
    expect(JSON.parse(Buffer.from(plaintext).toString())).toEqual({
      metadata: { webhookSecret: 'metadata-secret-3' },
      connection_config: { region: 'eu', refresh_token: 'config-secret-3' },
      credentials: {
        type: 'OAUTH2',
        access_token: 'access-secret-3',
        refresh_token: 'refresh-secret-3',
        raw: {},
      },
    });
    expect(answer.at('connections.0')).toMatchObject({
      connection_id: 'c3',
      provider_config_key: 'oauth',
      provider: 'hooked',
      created_at: '2024-01-03T00:00:00.000+00:00',
      end_user: { id: 'u1', organization: { id: 'acme', display_name: 'Acme' } },
      tags: { end_user_id: 'u1', organization_id: 'acme' },
    });
  });

  it('comes page by page', async () => {
    const granted = (await grant(jwkOf(1))).at('data.grant');
    const ids: unknown[] = [];
    for (let cursor: unknown; ;) {
      const answer = await page({ grant: granted, limit: 2, ...(cursor ? { cursor } : {}) });
      for (const one of answer.at('connections') as JsonObject[]) ids.push(one['connection_id']);
      cursor = answer.at('next_cursor');
      if (cursor === null) break;
    }
    expect(ids).toEqual(['c3', 'c2', 'c1']);
    expect(codeOf(await page({ grant: granted, cursor: 'x' }))).toBe('400 invalid_cursor_value');
  });

  it('needs the account, the scope, this environment, and a grant that was not changed', async () => {
    const reader = await api.keyWith('environment:connections:read_credentials');
    const lister = await api.keyWith('environment:connections:list_credentials');
    const text = (await grant(jwkOf(3))).at('data.grant') as string;
    expect(codeOf(await page({ grant: text }, reader))).toBe('200 ');
    expect(codeOf(await page({ grant: text }, lister))).toBe('403 forbidden');
    expect(codeOf(await page({ grant: text }, api.keys.account))).toBe('403 forbidden');
    expect(codeOf(await page({ grant: text }, api.keys.prod))).toBe('403 forbidden');
    expect(codeOf(await grant(jwkOf(3), api.keys.dev))).toBe('403 forbidden');
    expect(codeOf(await grant(jwkOf(3), api.keys.account, 4_711))).toBe('404 not_found');
    const [content = '', mac = ''] = text.replace('svc_export_', '').split('.');
    const other = JSON.parse(Buffer.from(content, 'base64url').toString()) as JsonObject;
    const swapped = Buffer.from(JSON.stringify({ ...other, publicKey: jwkOf(1) }));
    for (const changed of [
      `svc_export_${swapped.toString('base64url')}.${mac}`,
      `svc_export_${content}.${'0'.repeat(mac.length)}`,
      `svc_export_${content}`,
      'svc_export_',
      'anything',
    ]) {
      const refused = await page({ grant: changed });
      expect([changed, codeOf(refused)]).toEqual([changed, '403 forbidden']);
      expect(refused.at('error.fix')).toContain('/exports');
    }
    clock.forward(31 * 60_000);
    expect(codeOf(await page({ grant: text }))).toBe('403 forbidden');
  });

  it('refuses keys that nobody should encrypt to', async () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
    const signing = generateKeyPairSync('ed25519').publicKey;
    const bodies = [
      short.export({ format: 'jwk' }),
      signing.export({ format: 'jwk' }),
      keys[0][1].privateKey.export({ format: 'jwk' }),
      { kty: 'oct', k: 'c2VjcmV0' },
      { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
      {},
      'text',
    ];
    for (const body of bodies) {
      const refused = await grant(body);
      expect([body, codeOf(refused)]).toEqual([body, '400 invalid_body']);
      expect(refused.at('error.errors.0.path')).toEqual(['public_key']);
    }
  });

  it('is audited on both sides, and leaves no secret on a topic', async () => {
    const granted = await grant(jwkOf(0));
    await page({ grant: granted.at('data.grant') });
    const text = await everythingOn(api.services.log);
    expect(text).toContain('environment.export');
    expect(text).toContain(`${environmentId} ${String(granted.at('data.key_id'))}`);
    expect(text).toContain('connection.export');
    expect(text).not.toMatch(/(access|refresh|config|metadata)-secret-/);
    expect(text).not.toContain('svc_export_');
  });
});

describe('an import from another gateway', () => {
  const body = (more: object) => ({
    provider_config_key: 'open',
    connection_id: 'kept',
    credentials: { type: 'NONE' },
    ...more,
  });
  const imported = (more: object) => api.call('POST', '/connections', { body: body(more) });

  it('keeps the time of creation, and only at first', async () => {
    const first = await imported({ created_at: '2020-05-06T07:08:09+02:00' });
    expect(first.at('created_at')).toBe('2020-05-06T05:08:09.000+00:00');
    const again = await imported({ created_at: '2021-01-01T00:00:00Z' });
    expect(again.at('created_at')).toBe('2020-05-06T05:08:09.000+00:00');
    for (const created_at of ['2999-01-01T00:00:00Z', '1969-01-01T00:00:00Z', 'yesterday', 5]) {
      const refused = await imported({ created_at, connection_id: 'other' });
      expect([created_at, codeOf(refused)]).toEqual([created_at, '400 invalid_body']);
    }
  });

  it('keeps the organization of an end user', async () => {
    const sent = { end_user: { id: 'u2' }, organization: { id: 'o2' } };
    const made = await imported(sent);
    expect(made.at('end_user.organization')).toEqual({ id: 'o2', display_name: null });
    const alone = await imported({ organization: { id: 'o2' } });
    expect(alone.at('error.errors.0.path')).toEqual(['organization']);
    const path = '/connections/kept?provider_config_key=open';
    const patch = { end_user: { id: 'u2' }, organization: { id: 'o3', display_name: 'Three' } };
    expect(codeOf(await api.call('PATCH', path, { body: patch }))).toBe('200 ');
    const shown = await api.call('GET', path);
    expect(shown.at('end_user.organization')).toEqual({ id: 'o3', display_name: 'Three' });
    expect(shown.at('tags.organization_id')).toBe('o3');
  });

  it('shows the configuration of an integration to keys that read credentials', async () => {
    const wanted = {
      provider: 'generic',
      unique_key: 'configured',
      integration_config: { baseUrl: 'https://api.example' },
    };
    await api.call('POST', '/integrations', { body: wanted });
    const path = '/integrations/configured?include=config';
    const shown = await api.call('GET', path);
    expect(shown.at('data')).toMatchObject({
      integration_config: { baseUrl: 'https://api.example' },
      custom: {},
    });
    const key = await api.keyWith('environment:integrations:read');
    const plain = await api.call('GET', path, { key });
    expect(Object.keys(plain.at('data') as object)).not.toContain('integration_config');
  });
});

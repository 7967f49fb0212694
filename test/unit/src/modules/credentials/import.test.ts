import { describe, expect, it } from 'vitest';
import { parseImport } from '../../../../../src/modules/credentials/import.ts';
import { publicCredentials } from '../../../../../src/modules/credentials/public.ts';
import type { AuthMode, Provider } from '../../../../../src/modules/providers/definition.ts';

const provider = (auth_mode: AuthMode): Provider => ({
  name: 'p',
  display_name: 'P',
  categories: [],
  auth_mode,
  docs: '',
});
const refusal = (code: string): unknown => expect.objectContaining({ code });

describe('imported credentials', () => {
  it('are kept as they are for an API key', () => {
    const body = { type: 'API_KEY', apiKey: 'k' };
    expect(parseImport(provider('API_KEY'), body)).toEqual({ credentials: body, expiresAt: null });
  });

  it('may be empty texts for BASIC', () => {
    const body = { type: 'BASIC', username: '', password: '' };
    expect(parseImport(provider('BASIC'), body).credentials).toEqual(body);
  });

  it('are none for NONE', () => {
    const none = { credentials: null, expiresAt: null };
    expect(parseImport(provider('NONE'), { type: 'NONE' })).toEqual(none);
  });

  it.each([
    ['ISO text', '2026-02-02T09:00:00Z'],
    ['epoch milliseconds', Date.UTC(2026, 1, 2, 9)],
    ['epoch seconds', Date.UTC(2026, 1, 2, 9) / 1000],
  ])('of OAUTH2 may say their expiry as %s', (_, expires_at) => {
    const body = { type: 'OAUTH2', access_token: 'a', expires_at };
    const { credentials, expiresAt } = parseImport(provider('OAUTH2'), body);
    expect(expiresAt).toBe(Date.UTC(2026, 1, 2, 9));
    expect(credentials).toEqual({
      type: 'OAUTH2',
      access_token: 'a',
      expires_at: '2026-02-02T09:00:00.000Z',
      raw: {},
    });
  });

  it.each([
    ['another type than the provider has', { type: 'BASIC', username: 'a', password: 'b' }],
    ['an unknown field', { type: 'API_KEY', apiKey: 'k', more: 1 }],
    ['an empty key', { type: 'API_KEY', apiKey: '' }],
    ['a key that is too long', { type: 'API_KEY', apiKey: 'k'.repeat(1025) }],
    ['no object', 'k'],
  ])('are refused with %s', (_, body) => {
    expect(() => parseImport(provider('API_KEY'), body)).toThrow(refusal('invalid_body'));
  });

  it('of a mode that is not supported yet are refused by its name', () => {
    const parse = () => parseImport(provider('OAUTH1'), { type: 'OAUTH1' });
    expect(parse).toThrow(refusal('unsupported_auth'));
    expect(parse).toThrow(/OAUTH1/);
  });
});

describe('credentials as a caller sees them', () => {
  const credentials = {
    type: 'OAUTH2',
    access_token: 'a',
    refresh_token: 'r',
    raw: { deep: [{ RefreshToken: 'r', 'refresh-token': 'r', kept: 1 }] },
  };

  it('are empty without a credentials scope', () => {
    const options = { withCredentials: false, withRefreshToken: true };
    expect(publicCredentials(credentials, options)).toEqual({});
  });

  it('hold no refresh token at any depth unless asked for', () => {
    const options = { withCredentials: true, withRefreshToken: false };
    expect(publicCredentials(credentials, options)).toEqual({
      type: 'OAUTH2',
      access_token: 'a',
      raw: { deep: [{ kept: 1 }] },
    });
    expect(publicCredentials(credentials, { ...options, withRefreshToken: true })).toEqual(
      credentials,
    );
  });
});

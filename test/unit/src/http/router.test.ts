import { describe, expect, it } from 'vitest';
import type { AnyRoute } from '../../../../src/http/define-route.ts';
import { createRouter } from '../../../../src/http/router.ts';
import { defineRoute } from '../../../support/http.ts';

const route = (method: AnyRoute['method'], path: string): AnyRoute =>
  defineRoute({
    method,
    path,
    credential: 'none',
    scopes: [],
    summary: '',
    errors: [],
    handle: async () => ({ status: 200 }),
  });

describe('the router', () => {
  const router = createRouter([
    route('GET', '/connections'),
    route('GET', '/connections/{connectionId}'),
    route('DELETE', '/connections/{connectionId}'),
    route('POST', '/connections/metadata'),
    route('GET', '/integrations/{key}/functions/{name}'),
  ]);

  it('prefers a literal path to one with parameters', () => {
    const found = router.route('POST', '/connections/metadata');
    expect(found).toMatchObject({
      kind: 'found',
      match: { route: { path: '/connections/metadata' } },
    });
    const other = router.route('GET', '/connections/metadata');
    expect(other).toMatchObject({ kind: 'found', match: { params: { connectionId: 'metadata' } } });
  });

  it('takes parameters as they stand in the path', () => {
    const found = router.route('GET', '/integrations/a%2Fb/functions/f');
    expect(found).toMatchObject({ match: { params: { key: 'a%2Fb', name: 'f' } } });
  });

  it('names the methods of a known path', () => {
    expect(router.route('PUT', '/connections/metadata')).toEqual({
      kind: 'wrong-method',
      allow: ['DELETE', 'GET', 'OPTIONS', 'POST'],
    });
  });

  it('answers HEAD as GET', () => {
    expect(router.route('HEAD', '/connections').kind).toBe('found');
  });

  it.each([
    '/',
    '/connection',
    '/connections/',
    '/connections/a/b',
    '//connections',
    '/Connections',
  ])('does not know %s', (path) => {
    expect(router.route('GET', path)).toEqual({ kind: 'unknown' });
  });

  it('refuses two routes of one method and path', () => {
    const twice = [route('GET', '/a/{b}'), route('GET', '/a/{c}')];
    expect(() => createRouter(twice)).toThrow('two routes for GET /a/{c}');
  });
});

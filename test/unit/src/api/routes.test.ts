import { describe, expect, it } from 'vitest';
import { routes } from '#api/routes.ts';
import { codeOf } from '#http/define-route.ts';
import { serveRoutes } from '#http/router.ts';
import { catalogue } from '#kernel/errors.ts';

/** Routes that any key of their kind may call: the contract gives them no scope. */
const withoutScope = new Set([
  'GET /providers',
  'GET /providers/{provider}',
  'GET /providers/{provider}/templates',
  'GET /providers/{provider}/templates/{name}',
  // It stands for the key that makes it.
  'POST /console/codes',
]);
/** Routes that take no key. */
const open = new Set([
  'GET /health',
  'GET /ready',
  'GET /asyncapi.json',
  'GET /openapi.json',
  'GET /docs',
  'GET /docs/{page}',
  'GET /docs/api',
  'GET /docs/api/assets/{file}',
  'GET /llms.txt',
  'GET /providers.json',
  'GET /images/template-logos/{file}',
  // An authorization server reads who the client is.
  'GET /oauth/client-metadata.json',
  // The state of the authorization speaks for the browser.
  'GET /oauth/callback',
  'POST /oauth/callback',
  'GET /app-auth/connect',
  // A page and its files: what they ask for, they ask with the token of a session.
  'GET /connect/ui/',
  'GET /connect/ui/assets/{file}',
  'GET /connect/embed.js',
  'GET /console',
  'GET /console/assets/{file}',
  'GET /console/{page}',
  // They make and end what stands for keys, or check the cookie themselves.
  'POST /console/session',
  'GET /console/session',
  'DELETE /console/session',
  'DELETE /console/session/keys/{keyId}',
  'GET /console/sessions',
  'GET /console/sign-in',
  'GET /console/oidc/start',
  'GET /console/oidc/callback',
  'DELETE /console/sessions/{id}',
]);

describe('the route table', () => {
  it('has every path and method once', () => {
    expect(() => serveRoutes(routes, async () => undefined)).not.toThrow();
  });

  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s declares who may call it, its parameters and its errors',
    (name, route) => {
      expect(route.credential === 'none').toBe(open.has(name));
      // The token of a connect session opens its own endpoints as a whole.
      const isWhole = route.credential === 'connect';
      if (route.credential === 'none' || isWhole || withoutScope.has(name)) {
        expect(route.scopes).toEqual([]);
      } else {
        expect(route.scopes.length).toBeGreaterThan(0);
        for (const scope of route.scopes) expect(scope.split(':')[0]).toBe(route.credential);
      }
      expect(route.params !== undefined).toBe(route.path.includes('{'));
      expect(route.summary).toMatch(/^\p{Lu}.*\.$/u);
      for (const error of route.errors) expect(catalogue).toHaveProperty(codeOf(error));
      if (route.method === 'GET') expect(route.body).toBeUndefined();
    },
  );
});

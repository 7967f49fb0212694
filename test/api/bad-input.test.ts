import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyRoute } from '../../src/http/define-route.ts';
import { apiKeyRoutes } from '../../src/modules/api-keys/routes.ts';
import { formRoutes } from '../../src/modules/authorizations/form-routes.ts';
import { connectSessionRoutes } from '../../src/modules/connect-sessions/routes.ts';
import { connectionRoutes } from '../../src/modules/connections/routes.ts';
import { environmentRoutes } from '../../src/modules/environments/routes.ts';
import { integrationRoutes } from '../../src/modules/integrations/routes.ts';
import { providerRoutes } from '../../src/modules/providers/routes.ts';
import { variableRoutes } from '../../src/modules/variables/routes.ts';
import { checkedFetch } from '../support/answers.ts';
import { startApi, type Api } from '../support/api.ts';
import { seedOfRun } from '../support/random.ts';

const seed = seedOfRun();
/** Answered by owners of records, whom only a whole gateway has: test/e2e/bad-input.test.ts asks it. */
const needsOwners = ({ path }: AnyRoute): boolean => path.endsWith('/retention');
const all: readonly AnyRoute[] = [
  ...providerRoutes,
  ...integrationRoutes,
  ...connectionRoutes,
  ...environmentRoutes,
  ...apiKeyRoutes,
  ...variableRoutes,
  ...connectSessionRoutes,
  ...formRoutes,
];
const routes = all.filter((route) => !needsOwners(route));

/** Names that the routes know, so that bad values get past the check of names. */
const names = [
  'provider',
  'unique_key',
  'display_name',
  'credentials',
  'integration_config',
  'custom',
  'provider_config_key',
  'connection_id',
  'metadata',
  'connection_config',
  'tags',
  'end_user',
  'webhook_url_override',
  'name',
  'is_production',
  'environment_id',
  'key_id',
  'scopes',
  'value',
  'type',
  'id',
  'limit',
  'page',
  'search',
  'include',
  'force_refresh',
  'connection_config',
  'allowed_integrations',
  'integrations_config_defaults',
  'overrides',
  'organization',
  'connect_session_token',
  'params',
  'apiKey',
  'username',
  'password',
  'integrationId',
  '__proto__',
  'constructor',
];
const known = ['open-meteo', 'open', 'fuzz', 'NONE', 'API_KEY', 'OAUTH2', 'true', '1', 'webhook'];
const odd = [
  '',
  '\0',
  '\ud800',
  '%',
  '../..',
  '${apiKey}',
  'x'.repeat(300),
  '1e999',
  '-1',
  '[]',
  '🙂',
];

const leaf = fc.oneof(
  fc.constantFrom(...known, ...odd),
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    tie('map'),
  ),
  map: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 5 }),
}));
const body = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 }) },
  { weight: 1, arbitrary: value },
);
const text = fc.oneof(
  fc.constantFrom(...known, ...odd),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const query = fc.array(
  fc.tuple(fc.constantFrom(...names), fc.constantFrom('', '[]', '[a]', '[__proto__]', '['), text),
  { maxLength: 5 },
);

let api: Api;
/** Of a connect session, and of one that the test of its end uses up. */
let tokens: { readonly lasting: string; readonly ending: string };
beforeAll(async () => {
  console.log(`SVC_TEST_SEED=${seed}`);
  api = await startApi();
  const integration = { provider: 'open-meteo', unique_key: 'open' };
  await api.call('POST', '/integrations', { body: integration });
  const connection = {
    provider_config_key: 'open',
    connection_id: 'fuzz',
    credentials: { type: 'NONE' },
  };
  await api.call('POST', '/connections', { body: connection });
  const token = async () => {
    const body = { end_user: { id: 'u1' } };
    const made = await api.call('POST', '/connect/sessions', { body });
    return made.at('data.token') as string;
  };
  tokens = { lasting: await token(), ending: await token() };
});
afterAll(() => api[Symbol.asyncDispose]());

const encode = (part: string) => encodeURIComponent(part.toWellFormed());

describe('bad input', () => {
  it.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'to %s never gives a 5xx, and every refusal has a code',
    async (_name, route) => {
      const call = async (path: string, pairs: [string, string, string][], sent: unknown) => {
        const filled = route.path.replace(/\{\w+\}/g, path === '' ? 'x' : encode(path));
        const token = route.method === 'DELETE' ? tokens.ending : tokens.lasting;
        const keys = { account: api.keys.account, connect: token };
        const search = [
          ...(route.tokenIn === 'query' ? [`connect_session_token=${token}`] : []),
          ...pairs.map(([name, mark, item]) => `${name}${mark}=${encode(item)}`),
        ].join('&');
        const response = await checkedFetch(
          `${api.url}${filled}${search === '' ? '' : `?${search}`}`,
          {
            method: route.method,
            headers: {
              authorization: `Bearer ${{ environment: api.keys.dev, none: api.keys.dev, ...keys }[route.credential]}`,
              'content-type': 'application/json',
            },
            ...(route.method === 'GET' ? {} : { body: JSON.stringify(sent) }),
          },
        );
        const answer = await response.text();
        expect(response.status, answer).toBeLessThan(500);
        if (response.status < 400) return;
        const { error } = JSON.parse(answer) as { error: { code: string; message?: string } };
        expect(error.code).toMatch(/^[a-z_]+$/);
        expect(answer).not.toMatch(/node_modules|\.ts:\d|sqlite|zod/i);
      };
      await fc.assert(fc.asyncProperty(text, query, body, call), { seed, numRuns: 60 });
    },
  );
});

import { absent, anyKey, C, changing, creating, K, open, Q, row, type Row } from './row.ts';

/** Endpoints that take no key: whatever stands in the Authorization header, the answer is the same. */
const openRows: readonly Row[] = [
  row('GET /health', open, 200),
  row('GET /ready', open, 200),
  row('GET /providers.json', open, 200),
  row('GET /asyncapi.json', open, 200),
  row('GET /openapi.json', open, 200),
  row('GET /docs', open, 308),
  row('GET /docs/{page}', open, 200, () => ({ path: '/docs/records/' })),
  row('GET /docs/api', open, 200),
  row('GET /docs/api/assets/{file}', open, 404, () => ({ path: '/docs/api/assets/none.js' })),
  row('GET /llms.txt', open, 200),
  row('GET /images/template-logos/{file}', open, 200, () => ({
    path: '/images/template-logos/crm.svg',
  })),
  row('GET /webhook/{environmentUuid}/{providerConfigKey}', open, 404, () => ({
    path: '/webhook/0198c1a2-7d30-4000-8000-0000000000aa/crm',
  })),
  row('POST /webhook/{environmentUuid}/{providerConfigKey}', open, 404, () => ({
    path: '/webhook/0198c1a2-7d30-4000-8000-0000000000aa/crm',
    body: {},
  })),
];

/** Connect sessions (docs/reference/http.md#connect-sessions). */
const sessionRows: readonly Row[] = [
  creating('POST /connect/sessions', K('connect_sessions:write'), 201, () => ({
    body: { end_user: { id: 'somebody' } },
  })),
  row('POST /connect/sessions/reconnect', K('connect_sessions:write'), 201, (names) => ({
    body: { connection_id: names.connection, integration_id: names.shared },
  })),
  row('GET /connect/session', C, 200),
  row('DELETE /connect/session', C, 204),
  absent('POST /connect/telemetry', C),
];

/** An address of front-end auth; its integration is not there. */
const auth = (method: string, path: string, status = 404): Row =>
  changing(`${method} ${path}/{providerConfigKey}`, Q, status, ({ integration }) => ({
    path: `${path}/${integration}`,
    ...(method === 'POST' ? { body: {} } : {}),
  }));

/** Front-end auth (rows 29 to 42). */
const authRows: readonly Row[] = [
  auth('GET', '/oauth/connect'),
  row('GET /oauth/connect/{providerConfigKey}/scopes', C, 200, ({ integration }) => ({
    path: `/oauth/connect/${integration}/scopes`,
  })),
  row('GET /oauth/callback', open, 400),
  row('GET /oauth/client-metadata.json', open, 200),
  row('POST /oauth/callback', open, 400, () => ({
    path: '/oauth/callback',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })),
  row('GET /app-auth/connect', open, 400),
  auth('POST', '/oauth2/auth', 400),
  auth('POST', '/auth/oauth-outbound'),
  auth('POST', '/api-auth/api-key'),
  auth('POST', '/api-auth/basic'),
  auth('POST', '/auth/tba'),
  auth('POST', '/auth/aws-sigv4'),
  auth('POST', '/auth/jwt'),
  auth('POST', '/auth/bill'),
  auth('POST', '/auth/two-step'),
  auth('POST', '/auth/signature'),
  auth('POST', '/auth/unauthenticated'),
  auth('POST', '/app-store-auth'),
];

/** The page on which people connect: beside the contract, for its own script. */
const pageRows: readonly Row[] = [
  row('GET /connect/ui/', open, 200),
  row('GET /connect/ui/assets/{file}', open, 404, () => ({ path: '/connect/ui/assets/none.js' })),
  row('GET /connect/embed.js', open, 200),
];

/** The console. Its session needs a cookie: the requests are invalid, which is found before that. */
const consoleRows: readonly Row[] = [
  row('POST /console/session', open, 400, () => ({ body: {} })),
  row('GET /console/session', open, 400, () => ({ path: '/console/session?none=1' })),
  row('DELETE /console/session', open, 400, () => ({ path: '/console/session?none=1' })),
  row('DELETE /console/session/keys/{keyId}', open, 400, () => ({
    path: '/console/session/keys/none',
  })),
  row('GET /console/sessions', open, 400, () => ({ path: '/console/sessions?none=1' })),
  row('DELETE /console/sessions/{id}', open, 400, () => ({ path: '/console/sessions/none' })),
  row('GET /console/sign-in', open, 200),
  row('GET /console/oidc/start', open, 404),
  row('GET /console/oidc/callback', open, 404),
  row('GET /console', open, 200),
  row('GET /console/assets/{file}', open, 404, () => ({ path: '/console/assets/none.js' })),
  row('GET /console/{page}', open, 200, () => ({ path: '/console/env/dev/connections' })),
  row('POST /console/codes', anyKey, 201),
];

export const publicRows: readonly Row[] = [
  ...openRows,
  ...sessionRows,
  ...authRows,
  ...pageRows,
  ...consoleRows,
];

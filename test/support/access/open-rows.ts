import { absent, C, K, open, row, type Row } from './row.ts';

/** Endpoints that take no key: whatever stands in the Authorization header, the answer is the same. */
const openRows: readonly Row[] = [
  row('GET /health', open, 200),
  row('GET /ready', open, 200),
  row('GET /providers.json', open, 200),
  row('GET /asyncapi.json', open, 200),
  row('GET /images/template-logos/{file}', open, 200, () => ({
    path: '/images/template-logos/crm.svg',
  })),
  absent('POST /webhook/{environmentUuid}/{providerConfigKey}', open),
];

/** Connect sessions and front-end auth (contract/http.md, rows 24 to 42). */
const connectRows: readonly Row[] = [
  absent('POST /connect/sessions', K('connect_sessions:write')),
  absent('POST /connect/sessions/reconnect', K('connect_sessions:write')),
  absent('GET /connect/session', C),
  absent('DELETE /connect/session', C),
  absent('POST /connect/telemetry', C),
  absent('GET /oauth/connect/{providerConfigKey}', C),
  absent('GET /oauth/callback', open),
  absent('GET /app-auth/connect', open),
  absent('POST /oauth2/auth/{providerConfigKey}', C),
  absent('POST /auth/oauth-outbound/{providerConfigKey}', C),
  absent('POST /api-auth/api-key/{providerConfigKey}', C),
  absent('POST /api-auth/basic/{providerConfigKey}', C),
  absent('POST /auth/tba/{providerConfigKey}', C),
  absent('POST /auth/jwt/{providerConfigKey}', C),
  absent('POST /auth/bill/{providerConfigKey}', C),
  absent('POST /auth/two-step/{providerConfigKey}', C),
  absent('POST /auth/signature/{providerConfigKey}', C),
  absent('POST /auth/unauthenticated/{providerConfigKey}', C),
  absent('POST /app-store-auth/{providerConfigKey}', C),
];

export const publicRows: readonly Row[] = [...openRows, ...connectRows];

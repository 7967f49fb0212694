import { accountRows } from './account-rows.ts';
import { environmentRows } from './environment-rows.ts';
import { publicRows } from './open-rows.ts';
import { projectionRows } from './projection-rows.ts';
import type { Call, Row } from './row.ts';

/**
 * Every endpoint of the contract and of the service. A new route needs a row here, or the test of the table
 * fails: `row` where the request leaves everything as it is, `changing` and `creating` where it does not.
 */
export const table: readonly Row[] = [
  ...environmentRows,
  ...projectionRows,
  ...accountRows,
  ...publicRows,
];

/** Those that this version has, with the request that the tests send. */
export const served: readonly (Row & { readonly call: Call })[] = table.flatMap((row) =>
  row.call === null ? [] : [{ ...row, call: row.call }],
);

/** Every scope of an environment (docs/reference/http.md#endpoints-by-scope), without `environment:`. */
export const environmentScopes: readonly string[] = [
  ...['list', 'list_credentials', 'list_functions', 'read', 'read_credentials'].map(inIntegrations),
  ...['create', 'update', 'delete'].map(inIntegrations),
  ...['list', 'list_credentials', 'read', 'read_credentials'].map(inConnections),
  ...['create', 'update', 'delete'].map(inConnections),
  'connect_sessions:write',
  ...['syncs:read', 'syncs:execute', 'syncs:update'],
  ...['syncs:variant:create', 'syncs:variant:delete'],
  'deploy',
  ...['list', 'read', 'delete', 'compile', 'dryrun'].map((word) => `functions:${word}`),
  ...[
    'changes:read',
    'sql:read',
    'sql:write',
    'subscriptions:read',
    'subscriptions:consume',
    'subscriptions:write',
  ],
  ...['records:read', 'records:write', 'logs:read', 'logs:keep', 'actions:execute', 'proxy'],
  'variables:read',
  ...['webhook_signing_key:read', 'webhook_signing_key:rotate', 'mcp', 'variables:write'],
  ...['webhook_endpoints:read', 'webhook_endpoints:write', 'webhooks:read', 'webhooks:resend'],
  ...['alerts:read', 'alerts:write', 'typed_topics:read', 'typed_topics:write'],
];

function inIntegrations(word: string): string {
  return `integrations:${word}`;
}

function inConnections(word: string): string {
  return `connections:${word}`;
}

/** `integrations:*`, `syncs:variant:*` and so on. */
export const wildcards: readonly string[] = [
  ...new Set(
    environmentScopes.flatMap((scope) => {
      const parts = scope.split(':');
      return parts.slice(1).map((_, at) => `${parts.slice(0, at + 1).join(':')}:*`);
    }),
  ),
];

/** Whether a key with the scope passes where any one of the wanted ones does. */
export function passes(scope: string, wanted: readonly string[]): boolean {
  if (wanted.length === 0 || scope === '*') return true;
  const group = scope.endsWith(':*') ? scope.slice(0, -1) : null;
  return wanted.some((one) => one === scope || (group !== null && one.startsWith(group)));
}

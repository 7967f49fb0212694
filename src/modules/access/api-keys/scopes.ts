import { z } from 'zod';

/** Scopes of keys for common uses (docs/reference/http.md#scopes). */
export const profiles = {
  auth: ['environment:connect_sessions:write'],
  deploy: ['environment:deploy'],
  backend: [
    'environment:connections:read',
    'environment:records:read',
    'environment:actions:execute',
    'environment:syncs:execute',
    'environment:proxy',
  ],
} as const satisfies Record<string, readonly string[]>;

export type Profile = keyof typeof profiles;
export const profileNames = Object.keys(profiles) as [Profile, ...Profile[]];

/** The scopes within an environment (docs/reference/http.md#endpoints-by-scope). */
export const environmentScopes: readonly string[] = [
  'integrations:list',
  'integrations:list_credentials',
  'integrations:list_functions',
  'integrations:read',
  'integrations:read_credentials',
  'integrations:create',
  'integrations:update',
  'integrations:delete',
  'connections:list',
  'connections:list_credentials',
  'connections:read',
  'connections:read_credentials',
  'connections:create',
  'connections:update',
  'connections:delete',
  'connect_sessions:write',
  'syncs:read',
  'syncs:execute',
  'syncs:update',
  'syncs:variant:create',
  'syncs:variant:delete',
  'deploy',
  'functions:list',
  'functions:read',
  'functions:delete',
  'functions:compile',
  'functions:dryrun',
  'records:read',
  'records:write',
  'changes:read',
  'sql:read',
  'sql:write',
  'subscriptions:read',
  'subscriptions:consume',
  'subscriptions:write',
  'logs:read',
  'logs:keep',
  'actions:execute',
  'proxy',
  'variables:read',
  'variables:write',
  'webhook_endpoints:read',
  'webhook_endpoints:write',
  'webhooks:read',
  'webhooks:resend',
  'alerts:read',
  'alerts:write',
  'typed_topics:read',
  'typed_topics:write',
  'webhook_signing_key:read',
  'webhook_signing_key:rotate',
  'mcp',
].map((name) => `environment:${name}`);

/** `environment:connections:*` of `environment:connections:read`, and `environment:*`. */
const groupsOf = (scope: string): readonly string[] =>
  scope
    .split(':')
    .flatMap((_, at, parts) => (at === 0 ? [] : [`${parts.slice(0, at).join(':')}:*`]));

/**
 * Whether the scopes include the wanted one: the same text, or `…:*` with the part before the star
 * (docs/reference/http.md#scopes). A `_credentials` scope includes the plain one.
 */
export function holdsScope(granted: readonly string[], wanted: string): boolean {
  return granted.some((scope) => {
    if (scope === wanted || scope === `${wanted}_credentials`) return true;
    return scope.endsWith(':*') && wanted.startsWith(scope.slice(0, -1));
  });
}

/**
 * A scope of an environment, or a group of them: `environment:connections:*`. Unknown ones are refused: a key with a
 * mistyped scope would fail only when it is used.
 */
export const environmentScope = z.enum(
  [...new Set([...environmentScopes.flatMap(groupsOf), ...environmentScopes])],
  {
    error: 'Not a scope of an environment: see /docs/reference/http/#scopes.',
  },
);

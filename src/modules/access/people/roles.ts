import { holdsScope, environmentScopes } from '../api-keys/scopes.ts';

/** What a person may be, in one environment or in the account (docs/reference/http.md#roles). */
export const roleNames = ['owner', 'developer', 'support', 'read_only'] as const;
export type Role = (typeof roleNames)[number];

/** Reads of an environment without secrets: no credentials, variables, signing keys, addresses of webhooks or inputs of runs. */
const reads = [
  'environment:integrations:list',
  'environment:integrations:read',
  'environment:integrations:list_functions',
  'environment:connections:list',
  'environment:connections:read',
  'environment:syncs:read',
  'environment:functions:list',
  'environment:functions:read',
  'environment:records:read',
  'environment:changes:read',
  'environment:sql:read',
  'environment:subscriptions:read',
  'environment:logs:read',
  'environment:webhooks:read',
  'environment:alerts:read',
  'environment:typed_topics:read',
];

/** Getting a customer going again: nothing of the configuration changes. */
const repairs = [
  'environment:syncs:execute',
  'environment:connect_sessions:write',
  'environment:webhooks:resend',
];

/** Reading credentials back and handling keys are for owners: a developer sets a secret without seeing the one before. */
const isOfOwners = (scope: string): boolean =>
  scope.endsWith('_credentials') ||
  scope.startsWith('environment:webhook_signing_key:') ||
  scope.startsWith('environment:api_keys:');

/** What a role of the account opens besides the environments: without records, keys, people and operation. */
const accountReads = [
  'account:environments:list',
  'account:environments:read',
  'account:topics:read',
  'account:projections:read',
  'account:consumer-groups:read',
  'account:dead-letters:read',
];

const environmentScopesOf: Readonly<Record<Role, readonly string[]>> = {
  owner: ['environment:*'],
  developer: environmentScopes.filter((scope) => !isOfOwners(scope)),
  support: [...reads, ...repairs],
  read_only: reads,
};

/** A role in an environment, or in the account and all environments. */
export interface Grant {
  /** Null: the account. */
  readonly environmentUid: string | null;
  readonly role: Role;
}

/** The roles of the grants in an environment, those of the account included; null: in the account. Greatest first. */
export function rolesIn(grants: readonly Grant[], environmentUid: string | null): readonly Role[] {
  const held = grants
    .filter((grant) => grant.environmentUid === null || grant.environmentUid === environmentUid)
    .map(({ role }) => role);
  return roleNames.filter((role) => held.includes(role));
}

/** The scopes of roles in an environment. */
export const scopesInEnvironment = (roles: readonly Role[]): readonly string[] =>
  roles.includes('owner')
    ? environmentScopesOf.owner
    : [...new Set(roles.flatMap((role) => environmentScopesOf[role]))];

/** The scopes of roles in the account. */
export const scopesInAccount = (roles: readonly Role[]): readonly string[] => {
  if (roles.includes('owner')) return ['account:*'];
  return roles.length === 0 ? [] : accountReads;
};

/** The roles that hold one of the scopes, for the message of a refusal. */
export const rolesWith = (scopes: readonly string[]): readonly Role[] =>
  roleNames.filter((role) => {
    const held = [...scopesInEnvironment([role]), ...scopesInAccount([role])];
    return scopes.some((scope) => holdsScope(held, scope));
  });

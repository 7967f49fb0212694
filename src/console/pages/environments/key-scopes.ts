import type { Input } from '#client/index.ts';

type ScopeList = NonNullable<NonNullable<Input<'POST /environment/api-keys'>['body']>['scopes']>;
/** A scope that a key can be given, or a group of them. */
export type KeyScope = ScopeList[number];
type ScopeGroup = Extract<KeyScope, `${string}:*`>;
type PlainScope = Exclude<KeyScope, ScopeGroup>;

/** A scope of the API without a meaning does not compile. */
const meanings: Readonly<Record<PlainScope, string>> = {
  'environment:integrations:list': 'List integrations, without their secrets',
  'environment:integrations:list_credentials': 'List integrations with their secrets',
  'environment:integrations:list_functions': 'List the functions of an integration',
  'environment:integrations:read': 'Read an integration, without its secrets',
  'environment:integrations:read_credentials': 'Read an integration with its secrets',
  'environment:integrations:create': 'Add integrations',
  'environment:integrations:update': 'Change integrations',
  'environment:integrations:delete': 'Delete integrations with their connections',
  'environment:connections:list': 'List connections, without their credentials',
  'environment:connections:list_credentials': 'List connections with their credentials',
  'environment:connections:read': 'Read a connection, without its credentials',
  'environment:connections:read_credentials': 'Read a connection with its credentials',
  'environment:connections:create': 'Import connections',
  'environment:connections:update': 'Change metadata and tags of connections',
  'environment:connections:delete': 'Delete connections with their records',
  'environment:connect_sessions:write': 'Create connect sessions',
  'environment:syncs:read': 'Read the state of syncs',
  'environment:syncs:execute': 'Run, pause and start syncs',
  'environment:syncs:update': 'Change how often syncs run',
  'environment:syncs:variant:create': 'Add variants of syncs',
  'environment:syncs:variant:delete': 'Delete variants of syncs with their records',
  'environment:deploy': 'Deploy functions',
  'environment:functions:list': 'List functions',
  'environment:functions:read': 'Read a function and its source',
  'environment:functions:delete': 'Delete functions',
  'environment:functions:compile': 'Compile functions',
  'environment:functions:dryrun': 'Run functions without writing',
  'environment:records:read': 'Read records',
  'environment:records:write': 'Delete payloads of records and go back to earlier states',
  'environment:changes:read': 'Read the changes of all records',
  'environment:sql:read': 'Query records, runs and webhooks with SQL',
  'environment:sql:write': 'Save and delete SQL queries',
  'environment:subscriptions:read': 'Read subscriptions, without their changes',
  'environment:subscriptions:consume': 'Read, commit and park the changes of subscriptions',
  'environment:subscriptions:write': 'Create, move and delete subscriptions',
  'environment:logs:read': 'Read runs and logs',
  'environment:logs:keep': 'Keep log lines of every level for a time',
  'environment:actions:execute': 'Run actions',
  'environment:proxy': 'Call providers with the credentials of connections',
  'environment:variables:read': 'Read variables, which may be secrets',
  'environment:variables:write': 'Set and remove variables',
  'environment:webhook_endpoints:read': 'Read webhook endpoints',
  'environment:webhook_endpoints:write': 'Add, change, test and delete webhook endpoints',
  'environment:webhooks:read': 'Read webhooks that were sent and received',
  'environment:webhooks:resend': 'Send and process webhooks again',
  'environment:alerts:read': 'Read alerts and where they go',
  'environment:alerts:write': 'Change where alerts go',
  'environment:typed_topics:read': 'Read typed topics',
  'environment:typed_topics:write': 'Add and remove typed topics',
  'environment:webhook_signing_key:read': 'Read the signing key of webhooks',
  'environment:webhook_signing_key:rotate': 'Replace the signing key of webhooks',
  'environment:mcp': 'Offer tools to language models and agents (MCP)',
};

/** A part of the tree; `all` grants what the part has, later scopes too. */
export interface ScopePart {
  readonly label: string;
  /** Null: scopes that have nothing in common. */
  readonly all: ScopeGroup | null;
  readonly scopes: readonly (readonly [scope: PlainScope, meaning: string])[];
}

const parts = [
  ['Integrations', 'environment:integrations:*'],
  ['Connections', 'environment:connections:*'],
  ['Syncs', 'environment:syncs:*'],
  ['Functions', 'environment:functions:*'],
  ['Records', 'environment:records:*'],
  ['Changes', 'environment:changes:*'],
  ['Subscriptions', 'environment:subscriptions:*'],
  ['SQL', 'environment:sql:*'],
  ['Variables', 'environment:variables:*'],
  ['Webhooks', 'environment:webhooks:*'],
  ['Webhook endpoints', 'environment:webhook_endpoints:*'],
  ['Signing key of webhooks', 'environment:webhook_signing_key:*'],
  ['Alerts', 'environment:alerts:*'],
  ['Typed topics', 'environment:typed_topics:*'],
] as const satisfies readonly (readonly [string, ScopeGroup])[];

const entries = Object.entries(meanings) as [PlainScope, string][];
const isIn = (scope: string, all: ScopeGroup): boolean => scope.startsWith(all.slice(0, -1));

export const scopeParts: readonly ScopePart[] = [
  ...parts.map(([label, all]) => ({
    label,
    all,
    scopes: entries.filter(([scope]) => isIn(scope, all)),
  })),
  {
    label: 'Single scopes',
    all: null,
    scopes: entries.filter(([scope]) => !parts.some(([, all]) => isIn(scope, all))),
  },
];

/** The scopes of a choice as a key takes them: a whole part by its group. */
export function grantedScopes(chosen: ReadonlySet<KeyScope>): readonly KeyScope[] {
  return scopeParts.flatMap(({ all, scopes }) =>
    all !== null && chosen.has(all)
      ? [all]
      : scopes.map(([scope]) => scope).filter((scope) => chosen.has(scope)),
  );
}

/** What a list shows of the scopes of a key, such as `Records: all, Run actions`. */
export function scopesText(scopes: readonly string[]): string {
  if (scopes.some((scope) => scope === 'environment:*' || scope === 'account:*')) {
    return 'Full access';
  }
  const labels = scopes.map((scope) => {
    const part = scopeParts.find(({ all }) => all === scope);
    if (part !== undefined) return `${part.label}: all`;
    return scope in meanings ? meanings[scope as PlainScope] : scope;
  });
  return labels.join(', ');
}

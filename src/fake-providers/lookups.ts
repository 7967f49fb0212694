import type { JsonObject } from '#kernel/stable-json.ts';
import type { LookupStep, Provider } from '#modules/connections/providers/definition.ts';
import { withPath } from './with-path.ts';

/** What a played provider returns to callers that it knows. */
export interface OwnAnswer {
  readonly body: JsonObject | readonly JsonObject[];
  readonly scheme: 'Bearer' | 'OAuth';
  /** Only to this query, where the path takes others too. */
  readonly graphql?: string | undefined;
}

/** By the end of its path, the account that each lookup of the definition reads. */
export function lookedUpAccounts(
  { connection_lookup: steps = [] }: Provider,
  toldConfig: Readonly<Record<string, string>>,
): ReadonlyMap<string, OwnAnswer> {
  const called = steps.filter(({ endpoint }) => endpoint !== undefined);
  return new Map(
    called.map((step) => {
      const scheme = step.headers?.['authorization']?.startsWith('OAuth ') ? 'OAuth' : 'Bearer';
      const { pathname } = new URL(step.endpoint ?? '', 'https://provider.test/');
      const { graphql } = step;
      return [pathname, { body: accountOf(step, toldConfig), scheme, graphql }] as const;
    }),
  );
}

function accountOf(
  { item, connection_config: fields }: LookupStep,
  toldConfig: Readonly<Record<string, string>>,
): OwnAnswer['body'] {
  const account: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const made = /url$/i.test(name) ? 'https://told.example' : 'told';
    withPath(account, pathOf(value), toldConfig[name] ?? made);
  }
  if (item === undefined) return account as JsonObject;
  const { path, prefer } = item;
  if (prefer !== undefined) withPath(account, prefer.path, prefer.equals);
  if (path === undefined) return [account as JsonObject];
  const response: Record<string, unknown> = {};
  withPath(response, path, [account]);
  return response as JsonObject;
}

/** Definitions as they are written may have the path alone. */
const pathOf = (value: string | { readonly path: string }): string =>
  typeof value === 'string' ? value : value.path;

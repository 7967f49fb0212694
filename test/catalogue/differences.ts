import { z } from 'zod';
import type { Provider } from '#modules/connections/providers/definition.ts';
import differencesJson from './differences.json' with { type: 'json' };
import type { EntryFacts, readFacts } from './facts.ts';

const value = z.string().nullable();

const difference = z.strictObject({
  entry: z.string().min(1),
  field: z.string().min(1),
  /** What our entry had when it was compared; null: nothing. */
  ours: value,
  /** What other definitions have. */
  others: z.array(value).min(1),
});

export type Difference = z.output<typeof difference>;

/** Where our entries differed from other definitions of the same API, and the documentation had to decide. */
export const differences: readonly Difference[] = z.array(difference).parse(differencesJson);

type Facts = ReturnType<typeof readFacts>;
type Decision = NonNullable<EntryFacts['decisions']>[number];

const nameOf = ({ entry, field }: Pick<Difference, 'entry' | 'field'>): string =>
  `${entry} ${field}`;

function decisionsByName(facts: Facts): ReadonlyMap<string, Decision> {
  const decisions = [...facts.values()].flatMap((entries) =>
    Object.entries(entries).flatMap(([entry, { decisions: rows = [] }]) =>
      rows.map((row) => [nameOf({ entry, field: row.field }), row] as const),
    ),
  );
  return new Map(decisions);
}

/** `entry field` of each difference without a decision. */
export function undecidedDifferences(rows: readonly Difference[], facts: Facts): string[] {
  const decisions = decisionsByName(facts);
  return rows.map(nameOf).filter((name) => !decisions.has(name));
}

/** `entry field` of each decision that its entry contradicts: changed where it says kept, or the reverse. */
export function contradictedDecisions(
  rows: readonly Difference[],
  facts: Facts,
  providers: readonly Provider[],
): string[] {
  const decisions = decisionsByName(facts);
  return rows
    .filter((row) => {
      const outcome = decisions.get(nameOf(row))?.outcome;
      const provider = providers.find(({ name }) => name === row.entry);
      const current = provider === undefined ? undefined : valueOf(provider, row.field);
      if (outcome === undefined || outcome === 'undocumented' || current === undefined)
        return false;
      return (current === row.ours) === (outcome === 'changed');
    })
    .map(nameOf);
}

const pathOf = /^(?:headers|paginate|retry)\./;
const withoutPrefixes = (text: string): string => text.replaceAll('connectionConfig.', '');

/** The field of the entry in the form of a difference; undefined: it cannot be compared as a text. */
function valueOf(provider: Provider, field: string): string | null | undefined {
  if (pathOf.test(field)) return leafOf(provider.proxy, field.split('.'));
  const { base_url: base = '' } = provider.proxy ?? {};
  switch (field) {
    case 'api_host':
      return base.split('/')[2]?.replaceAll(/\$\{[^}]*\}/g, '{}');
    case 'base_version':
      return /\/(v[\d.]+)$/.exec(base)?.[1] ?? null;
    case 'authorization_url':
      return withoutPrefixes(provider.authorization_url ?? '');
    case 'token_url':
      return textOf(provider.token_url);
    case 'refresh_url':
      return textOf(provider.refresh_url ?? provider.token_url);
    case 'request_token_url':
      return provider.request_url;
    case 'token_auth_method':
      return provider.token_request_auth_method ?? 'body (default)';
    case 'scope_separator':
      return provider.scope_separator ?? ' ';
    case 'refresh_needs':
      return provider.default_scopes?.join(' ') ?? null;
    default:
      return undefined;
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

function leafOf(value: unknown, path: readonly string[]): string | null | undefined {
  const [name, ...rest] = path;
  if (name !== undefined) {
    if (typeof value !== 'object' || value === null) return null;
    return leafOf((value as Record<string, unknown>)[name], rest);
  }
  const leaf: unknown = Array.isArray(value) ? value[0] : value;
  return typeof leaf === 'string' ? leaf : null;
}

import { atPath, plainText } from '#kernel/json-path.ts';
import type { Json } from '#kernel/stable-json.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { Confirmation, EntryFacts, readFacts } from './facts.ts';

/**
 * How sure the fields are that every connection of an entry needs: `documented` by a page of the provider, `agreed`
 * by two independent sources, `single`: one source, `unconfirmed`: none.
 */
export const certainties = ['documented', 'agreed', 'single', 'unconfirmed'] as const;
export type Certainty = (typeof certainties)[number];

/** The least certainty of the addresses and of the placement of the key. */
export function certaintyOf(provider: Provider, facts: EntryFacts | undefined): Certainty {
  const levels = neededFields(provider).map((alternatives) =>
    Math.min(
      ...alternatives.map((field) => certainties.indexOf(levelOf(facts?.confirmed?.[field]))),
    ),
  );
  return certainties[Math.max(0, ...levels)]!;
}

function levelOf(confirmation: Confirmation | undefined): Certainty {
  if (confirmation === undefined) return 'unconfirmed';
  if (confirmation.page !== undefined) return 'documented';
  return (confirmation.sources ?? 0) > 1 ? 'agreed' : 'single';
}

/** Entries with a needed field that has neither two sources nor a page, and no decision either: `entry: certainty`. */
export function weakEntries(
  providers: readonly Provider[],
  facts: ReturnType<typeof readFacts>,
): string[] {
  return withFacts(providers, facts).flatMap(([provider, entryFacts]) => {
    const isWeak = weakFields(provider, entryFacts).some(
      (fields) => !isUndocumented(fields, entryFacts),
    );
    return isWeak ? [`${provider.name}: ${certaintyOf(provider, entryFacts)}`] : [];
  });
}

/** `entry field` of each needed field for which a decision says that no documentation of it could be read. */
export function undocumentedFields(
  providers: readonly Provider[],
  facts: ReturnType<typeof readFacts>,
): string[] {
  return withFacts(providers, facts).flatMap(([provider, entryFacts]) =>
    weakFields(provider, entryFacts)
      .filter((fields) => isUndocumented(fields, entryFacts))
      .map(([field]) => `${provider.name} ${field}`),
  );
}

/** The needed fields, each with its alternatives, that neither two sources nor a page confirm. */
const weakFields = (provider: Provider, facts: EntryFacts | undefined): string[][] =>
  neededFields(provider).filter((alternatives) =>
    alternatives.every((field) =>
      ['single', 'unconfirmed'].includes(levelOf(facts?.confirmed?.[field])),
    ),
  );

const isUndocumented = (fields: readonly string[], facts: EntryFacts | undefined): boolean =>
  (facts?.decisions ?? []).some(
    ({ field, outcome }) => outcome === 'undocumented' && fields.includes(field),
  );

/** `entry field` of each confirmation of another value than the entry has. */
export function contradictedConfirmations(
  providers: readonly Provider[],
  facts: ReturnType<typeof readFacts>,
): string[] {
  return withFacts(providers, facts).flatMap(([provider, { confirmed = {} } = {}]) =>
    Object.entries(confirmed).flatMap(([field, { value }]) =>
      fieldText(provider, field) === value ? [] : [`${provider.name} ${field}`],
    ),
  );
}

function withFacts(
  providers: readonly Provider[],
  facts: ReturnType<typeof readFacts>,
): (readonly [Provider, EntryFacts | undefined])[] {
  const byEntry = factsByEntry(facts);
  return providers.map((provider) => [provider, byEntry.get(provider.name)] as const);
}

export const factsByEntry = (
  facts: ReturnType<typeof readFacts>,
): ReadonlyMap<string, EntryFacts> =>
  new Map([...facts.values()].flatMap((entries) => Object.entries(entries)));

/** Each needed field, with its alternatives: a key is placed in a header, a parameter, the base URL or by the mode. */
function neededFields(provider: Provider): string[][] {
  const { auth_mode: mode, proxy } = provider;
  const addresses = ['authorization_url', 'token_url'].filter(
    (field) =>
      (mode === 'OAUTH2' || mode === 'OAUTH1') &&
      typeof provider[field as 'authorization_url'] === 'string',
  );
  const needed = addresses.map((field) => [field]);
  if (proxy?.base_url !== undefined && !isHostGiven(provider)) needed.push(['proxy.base_url']);
  if (mode === 'API_KEY' || mode === 'BASIC') {
    const placed = (['headers', 'query'] as const).flatMap((place) =>
      Object.keys(proxy?.[place] ?? {}).map((name) => `proxy.${place}.${name}`),
    );
    needed.push([...placed, ...(isKeyInBase(provider) ? ['proxy.base_url'] : []), 'auth_mode']);
  }
  return needed;
}

/** The connection has the whole host, and the entry proposes none: there is nothing to confirm. */
function isHostGiven({ proxy, connection_config: config }: Provider): boolean {
  const name = hostOfConnection.exec(proxy?.base_url ?? '')?.[1];
  if (name === undefined) return false;
  const field = config?.[name];
  return field?.enum === undefined && field?.default_value === undefined;
}

const hostOfConnection = /^(?:https:\/\/)?\$\{connectionConfig\.(\w+)\}(?:[/:]|$)/;

const isKeyInBase = ({ proxy, credentials = {} }: Provider): boolean =>
  Object.keys(credentials).some((name) => proxy?.base_url?.includes(`\${${name}}`) === true);

/** The value of a field as text, by its dotted path; undefined: the entry has no such field. */
export function fieldText(provider: Provider, field: string): string | undefined {
  const value = atPath(provider as unknown as Json, field);
  return value === undefined ? undefined : plainText(value);
}

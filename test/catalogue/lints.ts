import type { Provider } from '#modules/connections/providers/definition.ts';
import { factsByEntry, fieldText } from './confirmations.ts';
import type { readFacts, VersionRow } from './facts.ts';

type Facts = ReturnType<typeof readFacts>;

/** `entry: need` of each entry without what its authorization address demands before it issues a refresh token. */
export function refreshProblems(providers: readonly Provider[], facts: Facts): string[] {
  const needsByAddress = refreshNeedsByAddress(providers, facts);
  return providers.flatMap((provider) => {
    const needs = needsByAddress.get(provider.authorization_url ?? '') ?? [];
    const missing = [...new Set(needs)].filter((need) => !hasRefreshNeed(provider, need));
    return missing.map((need) => `${provider.name}: ${need}`);
  });
}

function refreshNeedsByAddress(
  providers: readonly Provider[],
  facts: Facts,
): ReadonlyMap<string, string[]> {
  const byEntry = factsByEntry(facts);
  const needsByAddress = new Map<string, string[]>();
  for (const { name, authorization_url: url } of providers) {
    const needs = Object.keys(byEntry.get(name)?.refresh_needs ?? {});
    if (needs.length === 0) continue;
    if (url === undefined) throw new Error(`${name}: refresh_needs without authorization_url`);
    needsByAddress.set(url, [...(needsByAddress.get(url) ?? []), ...needs]);
  }
  return needsByAddress;
}

function hasRefreshNeed(provider: Provider, need: string): boolean {
  const [kind, text = ''] = need.split(' ');
  if (kind === 'scope') return provider.default_scopes?.includes(text) === true;
  const [parameter = '', value] = text.split('=');
  return provider.authorization_params?.[parameter] === value;
}

type Unit = 'seconds' | 'time';

/**
 * What the headers of limits hold: seconds to wait, or a time. `*` is every other entry.
 * An entry whose header has another unit is named here, by its documentation.
 */
const unitOfHeader: Readonly<Record<string, Readonly<Record<string, Unit>>>> = {
  'ratelimit-reset': { '*': 'time', pagerduty: 'seconds', 'pagerduty-api-key': 'seconds' },
  'retry-after': { '*': 'seconds' },
  'retry-after-ms': { '*': 'seconds' },
  'x-aircallapi-reset': { '*': 'time' },
  'x-contentful-ratelimit-reset': { '*': 'seconds' },
  'x-rate-limit-reset': { '*': 'time', teamtailor: 'seconds' },
  'x-ratelimit-limit-user-reset': { '*': 'seconds' },
  'x-ratelimit-minutely-reset': { '*': 'time' },
  'x-ratelimit-period-in-sec': { '*': 'seconds' },
  'x-ratelimit-requests-reset': { '*': 'time' },
  'x-ratelimit-reset': {
    '*': 'time',
    datadog: 'seconds',
    pinterest: 'seconds',
    pipedrive: 'seconds',
    printful: 'seconds',
    reddit: 'seconds',
    terraform: 'seconds',
  },
  'x-ratelimit-reset-after': { '*': 'seconds' },
  'x-ratelimit-retry-after': { '*': 'seconds' },
  'x-ratelimit-retryafter': { '*': 'time' },
  'x-ratelimit-socialset-reset': { '*': 'time' },
  'x-retry-after': { '*': 'seconds' },
  'x-sentry-rate-limit-reset': { '*': 'time' },
  'x-sib-ratelimit-reset': { '*': 'seconds' },
  'x-toggl-quota-resets-in': { '*': 'seconds' },
};

/** `entry: header …` of each header under `retry.after` that holds a time, under `retry.at` that holds seconds, or of no known unit. */
export function retryProblems({ name, proxy }: Provider): string[] {
  const { after = [], at = [] } = proxy?.retry ?? {};
  const placed = [
    ...after.map((header) => ({ header, unit: 'seconds' as Unit })),
    ...at.map((header) => ({ header, unit: 'time' as Unit })),
  ];
  return placed.flatMap(({ header, unit }) => {
    const units = unitOfHeader[header.toLowerCase()];
    const known = units?.[name] ?? units?.['*'];
    if (known === undefined) return [`${name}: unknown unit of ${header}`];
    return known === unit ? [] : [`${name}: ${header} has ${known}`];
  });
}

/** A span is counted sliding. A longer one would refuse requests that the provider takes from its next fixed span on. */
const rateLimitSecondsMax = 900;

/** `entry: …` of each declared limit without its page, and of each page without the limit. */
export function rateLimitProblems(providers: readonly Provider[], facts: Facts): string[] {
  const byEntry = factsByEntry(facts);
  return providers.flatMap(({ name, proxy }) => {
    const limit = proxy?.rate_limit;
    const stated = byEntry.get(name)?.rate_limit?.value;
    if (limit === undefined)
      return stated === undefined ? [] : [`${name}: not declared: ${stated}`];
    const { requests, seconds, per } = limit;
    const value = `${requests}/${seconds}${per === 'connection' ? '/connection' : ''}`;
    return [
      ...(value === stated ? [] : [`${name}: ${value} is declared, ${stated ?? 'nothing'} stated`]),
      ...(seconds > rateLimitSecondsMax ? [`${name}: ${value} has a span over 15 minutes`] : []),
    ];
  });
}

/** `entry: property` of each value that a rule of webhooks matches and that no field of the entry writes. */
export function webhookProblems(provider: Provider): string[] {
  const written = new Set(writtenProperties(provider));
  const properties = (provider.webhook_routing?.connection ?? []).map(({ property }) => property);
  const unwritten = properties.filter(
    (property) => !property.startsWith('metadata.') && !written.has(property),
  );
  return unwritten.map((property) => `${provider.name}: ${property}`);
}

/** `metadata` is written by the API, `connectionId` by the service. */
const writtenProperties = (provider: Provider): string[] => [
  'connectionId',
  ...Object.keys(provider.connection_config ?? {}),
  ...(provider.token_response_metadata ?? []),
  ...(provider.refresh_token_response_metadata ?? []),
  ...(provider.redirect_uri_metadata ?? []),
  ...(provider.connection_lookup ?? []).flatMap((step) => Object.keys(step.connection_config)),
  ...(writtenByMode[provider.auth_mode] ?? []),
  ...(writtenByImport[provider.name] ?? []),
];

/** The installation of an app names both. */
const writtenByMode: Readonly<Record<string, readonly string[]>> = {
  APP: ['app_id', 'installation_id'],
  CUSTOM: ['app_id', 'installation_id'],
};

/** Other names for the same value, which imported connections have (docs/moving-here.md). */
const writtenByImport: Readonly<Record<string, readonly string[]>> = { hubspot: ['portalId'] };

/** `entry version` of each row whose end is not that of another row for the same version of the same API. */
export function versionProblems(
  providers: readonly Provider[],
  rows: readonly VersionRow[],
): string[] {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  const endByAddress = new Map<string, string | null>();
  const withEndFirst = rows.toSorted(
    (a, b) => Number(a.expires_at === null) - Number(b.expires_at === null),
  );
  return withEndFirst.flatMap((row) => {
    const provider = byName.get(row.entry);
    const addresses = provider === undefined ? [] : versionAddresses(provider, row);
    const differs = addresses.some(
      (address) => (endByAddress.get(address) ?? row.expires_at) !== row.expires_at,
    );
    for (const address of addresses) {
      if (row.expires_at !== null) endByAddress.set(address, row.expires_at);
    }
    return differs ? [`${row.entry} ${row.version}`] : [];
  });
}

/** What a version is of: an address up to it, or a header of calls to a host. Without the host it could be of another API. */
function versionAddresses(provider: Provider, { fields, version }: VersionRow): string[] {
  const base = provider.proxy?.base_url ?? '';
  return fields.flatMap((field) => {
    const text = fieldText(provider, field);
    if (text === undefined) return [];
    const header = /\.headers\.(.+)$/.exec(field)?.[1];
    if (header !== undefined) return [`${base.split('/')[2] ?? ''} ${header}: ${text}`];
    const address = text.startsWith('/') ? base + text : text;
    const host = address.split('/')[2] ?? '';
    const end = address.indexOf(version);
    return end < 0 || host.startsWith('$') ? [] : [address.slice(0, end + version.length)];
  });
}

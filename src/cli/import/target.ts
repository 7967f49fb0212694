import { randomUUID } from 'node:crypto';
import type { Answer, Arguments, Client, ConnectionEntry } from '#client/index.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { inParallel } from '../in-parallel.ts';
import { configuredIntegrations } from '../service-command.ts';
import type { CatalogProvider } from './credentials.ts';
import type { SourceData } from './read.ts';

export type SyncStatus = Answer<'GET /sync/status'>['syncs'][number];
export type Endpoint = Answer<'GET /webhook-endpoints'>['data'][number];
export type ShownIntegration = Answer<'GET /integrations/{uniqueKey}'>['data'];

export interface NamedProvider extends CatalogProvider {
  readonly name: string;
  readonly aliases?: readonly string[];
}

/** What the environment holds before the import. */
export interface Target {
  /** Entries of the catalog by each of their names. */
  readonly providers: ReadonlyMap<string, readonly NamedProvider[]>;
  readonly integrations: ReadonlyMap<string, ShownIntegration>;
  /** With credentials as stored, by integration and id. */
  readonly connections: ReadonlyMap<string, ConnectionEntry>;
  /** Frequencies of deployed syncs, by integration and name. */
  readonly deployed: ReadonlyMap<string, string | null>;
  /** Of every connection, by integration, connection, name and variant. */
  readonly syncs: ReadonlyMap<string, SyncStatus>;
  readonly variables: ReadonlyMap<string, string>;
  readonly endpoints: readonly Endpoint[];
}

/** Entries by each of their names: that of the name first, then those that have it as another name. */
export function byEveryName(providers: readonly NamedProvider[]): Target['providers'] {
  const named = [
    ...providers.map((one) => [one.name, one] as const),
    ...providers.flatMap((one) => (one.aliases ?? []).map((alias) => [alias, one] as const)),
  ];
  const groups = Map.groupBy(named, ([name]) => name);
  return new Map([...groups].map(([name, some]) => [name, some.map(([, one]) => one)]));
}

/**
 * The entry for an integration: the one that it has here already, or the first whose mode its credentials have. A name may
 * stand for another mode at the source.
 * @param modes those of the credentials at the source; may be empty
 */
export function chosenProvider(
  candidates: readonly NamedProvider[],
  modes: ReadonlySet<string>,
  existing?: string,
): NamedProvider | undefined {
  return (
    candidates.find(({ name }) => name === existing) ??
    candidates.find(({ auth_mode: mode }) => modes.has(mode)) ??
    candidates[0]
  );
}

export const keyOf = (...names: readonly string[]): string => JSON.stringify(names);

/**
 * Reads what the source has entries for, so that the key needs no other scope.
 * @throws ApiError
 */
export async function readTarget(client: Client, entries: SourceData['entries']): Promise<Target> {
  const [{ data: providers }, { data: listed }, configured, variables, endpoints] =
    await Promise.all([
      client.request('GET /providers'),
      client.request('GET /integrations', { query: { credentials: 'none' } }),
      entries.syncs.length === 0 ? [] : configuredIntegrations(client),
      entries.variables.length === 0 ? [] : client.request('GET /environment-variables'),
      entries.webhook_endpoints.length === 0
        ? { data: [] }
        : client.request('GET /webhook-endpoints'),
    ]);
  const wanted = new Set(entries.integrations.map(({ unique_key: key }) => key));
  const shared = listed.filter(({ unique_key: key }) => wanted.has(key));
  const integrations = await inParallel(shared, async ({ unique_key: uniqueKey }) => {
    const query = { include: ['credentials', 'config'] as const };
    const { data } = await client.request('GET /integrations/{uniqueKey}', {
      params: { uniqueKey },
      query,
    });
    return data;
  });
  const keys = integrations.map(({ unique_key: key }) => key);
  const connections = await connectionsOf(client, keys);
  const withSyncs = configured.filter(
    ({ providerConfigKey: key, syncs }) => syncs.length > 0 && keys.includes(key),
  );
  const statuses = await inParallel(withSyncs, async ({ providerConfigKey: key }) => {
    const query = { syncs: '*', provider_config_key: key };
    const { syncs } = await client.request('GET /sync/status', { query });
    return syncs.map((one) => [statusKey(key, one), one] as const);
  });
  return {
    providers: byEveryName(providers),
    integrations: new Map(integrations.map((one) => [one.unique_key, one])),
    connections,
    deployed: new Map(
      configured.flatMap(({ providerConfigKey: key, syncs }) =>
        syncs.map(({ name, runs }) => [keyOf(key, name), runs ?? null] as const),
      ),
    ),
    syncs: new Map(statuses.flat()),
    variables: new Map(variables.map(({ name, value }) => [name, value])),
    endpoints: endpoints.data,
  };
}

const statusKey = (key: string, { connection_id, name, variant }: SyncStatus): string =>
  keyOf(key, connection_id ?? '', name, variant);

async function connectionsOf(
  client: Client,
  integrationId: readonly string[],
): Promise<Target['connections']> {
  const found = new Map<string, ConnectionEntry>();
  if (integrationId.length === 0) return found;
  for await (const { connections } of client.pages('GET /connections', {
    query: { integrationId, limit: 500 },
  })) {
    for (const one of connections) {
      found.set(keyOf(one.provider_config_key, one.connection_id), one);
    }
  }
  return found;
}

/** The configuration and the webhook address of a connection; nothing is refreshed. @throws ApiError */
export async function shownConnection(
  client: Client,
  key: string,
  connectionId: string,
): Promise<
  Pick<Answer<'GET /connections/{connectionId}'>, 'webhook_url_override'> & {
    readonly connection_config: JsonObject;
  }
> {
  const query = { provider_config_key: key, credentials: 'masked' } as const;
  const params = { connectionId };
  const shown = await client.request('GET /connections/{connectionId}', { params, query });
  return { ...shown, connection_config: shown.connection_config as JsonObject };
}

const retries = 8;

/** A client that waits while the service limits its rate or is away; no request has a second effect. */
export const patientClient = (client: Client, signal: AbortSignal): Client => ({
  ...client,
  request: (operation, ...[input]) => {
    const key = operation.startsWith('GET ') ? {} : { idempotencyKey: randomUUID() };
    const patient = { ...input, ...key, retries, signal };
    return client.request(operation, ...([patient] as unknown as Arguments<typeof operation>));
  },
});

import { ApiError, type Client, type SyncStatus } from '#client/index.ts';

interface NamedConnection {
  readonly integration: string;
  readonly connection: string;
}

interface SyncsOptions {
  /** Whether the key may list functions: without syncs the API refuses to list their states. */
  readonly canList: boolean;
  readonly signal: AbortSignal;
}

/** The syncs of a connection; none when no sync is deployed for the integration. */
export const syncsOf = async (
  client: Client,
  name: NamedConnection,
  { canList, signal }: SyncsOptions,
): Promise<readonly SyncStatus[]> =>
  canList && !(await hasSyncs(client, name, signal)) ? [] : readSyncs(client, name, signal);

async function hasSyncs(
  client: Client,
  { integration }: NamedConnection,
  signal: AbortSignal,
): Promise<boolean> {
  const { pagination } = await client.request('GET /integrations/{uniqueKey}/functions', {
    params: { uniqueKey: integration },
    query: { type: 'sync', limit: 1 },
    signal,
  });
  return pagination.total > 0;
}

async function readSyncs(
  client: Client,
  { integration, connection }: NamedConnection,
  signal: AbortSignal,
): Promise<readonly SyncStatus[]> {
  const query = { syncs: '*', provider_config_key: integration, connection_id: connection };
  try {
    return (await client.request('GET /sync/status', { query, signal })).syncs;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'no_syncs_found') return [];
    throw error;
  }
}

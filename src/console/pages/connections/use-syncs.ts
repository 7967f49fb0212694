import { useQuery, type UseQueryResult } from '@tanstack/preact-query';
import { ApiError, type Client, type SyncStatus } from '#client/index.ts';
import { useAccess } from '../../session/context.tsx';
import type { ConnectionName } from './use-connection.ts';

/** The syncs of a connection; none when no sync is deployed for the integration, which the API refuses as unknown. */
export function useSyncs(
  name: ConnectionName,
  { isLive = false }: { readonly isLive?: boolean } = {},
): UseQueryResult<readonly SyncStatus[]> {
  const { client, key, can } = useAccess();
  const canList = can('environment:functions:list');
  return useQuery({
    queryKey: [key.id, 'syncs', name],
    queryFn: async ({ signal }) =>
      canList && !(await hasSyncs(client, name, signal)) ? [] : readSyncs(client, name, signal),
    refetchInterval: isLive ? 3_000 : false,
    enabled: can('environment:syncs:read'),
  });
}

async function hasSyncs(
  client: Client,
  { integration }: ConnectionName,
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
  { integration, connection }: ConnectionName,
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

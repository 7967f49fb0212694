import { useQuery, type UseQueryResult } from '@tanstack/preact-query';
import type { SyncStatus } from '#client/index.ts';
import { syncsOf } from '../../data/syncs.ts';
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
    queryFn: ({ signal }) => syncsOf(client, name, { canList, signal }),
    refetchInterval: isLive ? 3_000 : false,
    enabled: can('environment:syncs:read'),
  });
}

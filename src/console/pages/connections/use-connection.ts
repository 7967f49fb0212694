import { useQuery, type UseQueryResult } from '@tanstack/preact-query';
import type { Answer } from '#client/index.ts';
import { useAccess } from '../../session/context.tsx';

/** The two names that every request about a connection takes. */
export interface ConnectionName {
  readonly integration: string;
  readonly connection: string;
}

type Connection = Answer<'GET /connections/{connectionId}'>;

/** A connection without its secrets, which never reach the browser. */
export interface ShownConnection extends Omit<Connection, 'credentials'> {
  /** `OAUTH2`, `API_KEY` …; null without credentials. */
  readonly type: string | null;
  readonly expiresAt: string | null;
  /** Names of the fields that hold a value. */
  readonly fields: readonly string[];
}

export function useConnection(
  { integration, connection }: ConnectionName,
  isEnabled = true,
): UseQueryResult<ShownConnection> {
  const { client, key } = useAccess();
  return useQuery({
    queryKey: [key.id, 'connection', integration, connection],
    queryFn: async ({ signal }) =>
      shownOf(
        await client.request('GET /connections/{connectionId}', {
          params: { connectionId: connection },
          query: { provider_config_key: integration, credentials: 'masked' },
          signal,
        }),
      ),
    enabled: isEnabled,
  });
}

function shownOf({ credentials, ...rest }: Connection): ShownConnection {
  const { type, expires_at: expiresAt, ...fields } = credentials;
  return {
    ...rest,
    type: typeof type === 'string' ? type : null,
    expiresAt: typeof expiresAt === 'string' ? expiresAt : null,
    fields: Object.keys(fields),
  };
}

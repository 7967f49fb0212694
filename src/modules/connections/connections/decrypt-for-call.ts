import { GatewayError } from '#kernel/errors.ts';
import {
  openConnectionConfig,
  openCredentials,
  openIntegrationCredentials,
  openMetadata,
} from '../credentials/sealing.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { ConnectionsServices } from '../services.ts';
import type { OpenedForCall } from './opened-connections.ts';
import type { FreshOptions } from './refresher.ts';
import type { Connection } from './state.ts';

/**
 * Refreshes credentials that are due, then decrypts connection and integration.
 * @throws GatewayError `unknown_provider_config`, `unknown_provider`, `invalid_credentials`,
 *   `connection_refresh_backoff`, `connection_refresh_exhausted`
 */
export async function decryptForCall(
  deps: Pick<ConnectionsServices, 'control' | 'vault' | 'providers' | 'refresher'>,
  connection: Connection,
  options: FreshOptions = {},
): Promise<OpenedForCall> {
  const { control, vault, providers, refresher } = deps;
  const stored = await refresher.fresh(connection, options);
  const { environmentUid, integrationKey } = stored;
  const integration = await requireIntegration(control, environmentUid, integrationKey, {
    code: 'unknown_provider_config',
  });
  const provider = providers.find(stored.provider);
  if (provider === null) throw new GatewayError('unknown_provider');
  const client = await openIntegrationCredentials(vault, integration);
  return {
    provider,
    stored,
    connection: {
      credentials: stored.credentials === null ? null : await openCredentials(vault, stored),
      connectionConfig: await openConnectionConfig(vault, stored),
      metadata: await openMetadata(vault, stored),
    },
    integration: {
      clientId: client?.clientId,
      clientSecret: client?.clientSecret,
      integrationConfig: integration.integrationConfig,
    },
  };
}

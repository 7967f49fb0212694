import { GatewayError } from '#kernel/errors.ts';
import { modeContext } from '../credentials/mode-context.ts';
import { withNewJwt } from '../credentials/modes/installation.ts';
import { openConnectionConfig, openCredentials } from '../credentials/sealing.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { ConnectionsServices } from '../services.ts';
import { storeCredentials } from './handlers.ts';
import { findConnection } from './queries.ts';
import type { Connection } from './state.ts';

type Deps = Pick<ConnectionsServices, 'control' | 'vault' | 'providers' | 'http' | 'clock'>;

/**
 * Creates a new JWT for the connection of an app, and keeps its tokens (docs/reference/auth-modes.md#app); returns any
 * other connection unchanged. Needs no lease, because it does not call the provider.
 * @throws GatewayError `invalid_credentials` (the key of the app cannot sign), `unknown_connection`
 */
export async function renewJwt(deps: Deps, existing: Connection): Promise<Connection> {
  const { control, vault, providers } = deps;
  const { environmentUid, integrationKey, connectionId, expiresAt } = existing;
  const provider = providers.find(existing.provider);
  if (provider === null || existing.credentials === null) return existing;
  const held = await openCredentials(vault, existing);
  const integration = await requireIntegration(control, environmentUid, integrationKey);
  const config = await openConnectionConfig(vault, existing);
  const credentials = await withNewJwt(
    held,
    await modeContext(deps, integration, provider, config),
  );
  if (credentials === null) return existing;
  try {
    return await storeCredentials(deps, existing, { credentials, expiresAt }, { actor: 'system' });
  } catch (error) {
    // Another fetch stored credentials concurrently: their JWT is as new.
    if (!(error instanceof GatewayError) || error.code !== 'conflict') throw error;
    return findConnection(control, environmentUid, integrationKey, connectionId) ?? existing;
  }
}

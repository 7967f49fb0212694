import type { Services } from '../../http/services.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { modeContext } from '../credentials/mode-context.ts';
import { withNewJwt } from '../credentials/modes/installation.ts';
import { openConnectionConfig, openCredentials } from '../credentials/sealing.ts';
import { requireIntegration } from '../integrations/queries.ts';
import { storeCredentials } from './handlers.ts';
import { findConnection } from './queries.ts';
import type { Connection } from './state.ts';

type Deps = Pick<Services, 'control' | 'vault' | 'providers' | 'http' | 'clock'>;

/**
 * Gives the connection of an app a new JWT, and leaves its tokens (contract/auth-modes.md section 4.7); any other is
 * given back as it is. The provider is not asked, so that nobody has to take turns.
 * @throws GatewayError `invalid_credentials` (the key of the app cannot sign), `unknown_connection`
 */
export async function renewJwt(deps: Deps, known: Connection): Promise<Connection> {
  const { control, vault, providers } = deps;
  const { environmentUid, integrationKey, connectionId, expiresAt } = known;
  const provider = providers.find(known.provider);
  if (provider === null || known.credentials === null) return known;
  const held = await openCredentials(vault, known);
  const integration = await requireIntegration(control, environmentUid, integrationKey);
  const config = await openConnectionConfig(vault, known);
  const credentials = await withNewJwt(
    held,
    await modeContext(deps, integration, provider, config),
  );
  if (credentials === null) return known;
  try {
    return await storeCredentials(deps, known, { credentials, expiresAt }, { actor: 'system' });
  } catch (error) {
    // Another fetch stored credentials meanwhile: their JWT is as new.
    if (!(error instanceof GatewayError) || error.code !== 'conflict') throw error;
    return findConnection(control, environmentUid, integrationKey, connectionId) ?? known;
  }
}

import type { JsonObject } from '#kernel/stable-json.ts';
import type { Integration } from '../integrations/integration.ts';
import type { Provider } from '../providers/definition.ts';
import type { ConnectionsServices } from '../services.ts';
import type { ModeContext } from './modes/mode.ts';
import { openIntegrationCredentials } from './sealing.ts';

/** Input of the provider's mode for one connection of the integration. */
export async function modeContext(
  { vault, http, clock }: Pick<ConnectionsServices, 'vault' | 'http' | 'clock'>,
  integration: Integration,
  provider: Provider,
  connectionConfig: JsonObject = {},
): Promise<ModeContext> {
  const client = await openIntegrationCredentials(vault, integration);
  return { provider, client, connectionConfig, http, clock };
}

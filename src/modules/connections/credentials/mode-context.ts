import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { Integration } from '../integrations/integration.ts';
import type { Provider } from '../providers/definition.ts';
import { withDefaults } from '../providers/field-check.ts';
import type { ModeContext } from './modes/mode.ts';
import { openIntegrationCredentials } from './sealing.ts';

/** Input of the provider's mode for one connection of the integration. */
export async function modeContext(
  {
    vault,
    http,
    clock,
  }: { readonly vault: Vault; readonly http: HttpClient; readonly clock: Clock },
  integration: Integration,
  provider: Provider,
  connectionConfig: JsonObject = {},
): Promise<ModeContext> {
  const client = await openIntegrationCredentials(vault, integration);
  return {
    provider,
    client,
    connectionConfig: withDefaults(provider, connectionConfig),
    http,
    clock,
  };
}

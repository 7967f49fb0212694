import type { Services } from '../../http/services.ts';
import type { ModeContext, Obtained } from '../credentials/modes/mode.ts';
import type { Integration } from '../integrations/state.ts';
import { verifyCredentials } from '../providers/verify.ts';

/**
 * Tries the credentials where the provider says how.
 * @throws GatewayError `connection_test_failed`
 */
export async function acceptCredentials(
  services: Pick<Services, 'http' | 'clock'>,
  of: {
    readonly integration: Integration;
    readonly context: ModeContext;
    readonly credentials: Obtained;
  },
): Promise<Obtained> {
  const { integration, context, credentials: obtained } = of;
  const { provider, client } = context;
  const connectionConfig = { ...context.connectionConfig, ...obtained.connectionConfig };
  await verifyCredentials(
    services,
    provider,
    { credentials: obtained.credentials, connectionConfig, metadata: {} },
    {
      clientId: client?.clientId,
      clientSecret: client?.clientSecret,
      integrationConfig: integration.integrationConfig,
    },
  );
  return obtained;
}

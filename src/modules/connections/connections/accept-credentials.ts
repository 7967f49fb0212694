import type { JsonObject } from '#kernel/stable-json.ts';
import type { ModeContext, ObtainedCredentials } from '../credentials/modes/mode.ts';
import type { Integration } from '../integrations/integration.ts';
import { callAfterConnecting } from '../providers/post-connection.ts';
import { verifyCredentials } from '../providers/verify.ts';

/**
 * Verifies credentials at the provider and fetches the configuration that only the provider has, before a connection is
 * stored. A published connection is therefore complete.
 * @returns the credentials with that configuration @throws GatewayError `connection_test_failed`, or when the provider
 *   cannot be called
 */
export async function acceptCredentials(
  services: Pick<ModeContext, 'http' | 'clock'>,
  obtained: {
    readonly integration: Pick<Integration, 'integrationConfig'>;
    readonly context: ModeContext;
    readonly credentials: ObtainedCredentials;
    readonly metadata?: JsonObject | undefined;
  },
): Promise<ObtainedCredentials> {
  const { integration, context, credentials, metadata = {} } = obtained;
  const { provider, client } = context;
  const connection = {
    credentials: credentials.credentials,
    connectionConfig: { ...context.connectionConfig, ...credentials.connectionConfig },
    metadata,
  };
  const opened = {
    clientId: client?.clientId,
    clientSecret: client?.clientSecret,
    integrationConfig: integration.integrationConfig,
  };
  const configuration = await callAfterConnecting(services, provider, connection, opened);
  const whole = {
    ...connection,
    connectionConfig: { ...connection.connectionConfig, ...configuration },
  };
  await verifyCredentials(services, provider, whole, opened);
  return {
    ...credentials,
    connectionConfig: { ...credentials.connectionConfig, ...configuration },
  };
}

import type { z } from 'zod';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { ModeContext, ObtainedCredentials } from '../credentials/modes/mode.ts';
import { ProviderAuthError } from '../credentials/modes/provider-auth-error.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import type { Integration } from '../integrations/integration.ts';
import { lookUpConfiguration } from '../providers/connection-lookup.ts';
import { verifyCredentials } from '../providers/verify.ts';

/**
 * Credentials of a `POST /connections` body: checked against the provider's mode. Where the imported values are used to
 * fetch a token, the provider is called for it (docs/reference/auth-modes.md#credentials).
 * @throws GatewayError `invalid_body` with issues under `credentials`, or why the provider issued no token
 */
export async function importCredentials(
  context: ModeContext,
  body: unknown,
): Promise<ObtainedCredentials> {
  const { provider } = context;
  const rules = authModeRules[provider.auth_mode];
  const sent = typeof body === 'object' && body !== null && 'type' in body ? body.type : undefined;
  if (sent !== provider.auth_mode) {
    const message = `The provider "${provider.name}" requires credentials of type ${provider.auth_mode}.`;
    throw invalid([{ code: 'invalid_value', message, path: ['credentials', 'type'] }]);
  }
  const parsed = rules.importShape(provider).safeParse(body);
  if (!parsed.success) throw invalid(parsed.error.issues.map(toIssue));
  return askedOf(() => rules.import(parsed.data, context));
}

/** The caller gets the provider's refusal. */
async function askedOf<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw error instanceof ProviderAuthError ? error.toGatewayError() : error;
  }
}

function toIssue(issue: z.core.$ZodIssue): Issue {
  const path = ['credentials', ...issue.path.map(String)];
  return { code: issue.code, message: issue.message, path };
}

const invalid = (errors: readonly Issue[]): GatewayError =>
  new GatewayError('invalid_body', { errors });

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
  const configuration = await lookUpConfiguration(services, provider, connection, opened);
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

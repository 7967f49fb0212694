import { randomUUID } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { ConnectSession, IntegrationDefaults } from '../connect-sessions/connect-session.ts';
import { defaultsOf } from '../connect-sessions/handlers.ts';
import { findConnection } from '../connections/queries.ts';
import type { Connection } from '../connections/state.ts';
import type { AuthModeRules } from '../credentials/modes/mode.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { openConnectionConfig } from '../credentials/sealing.ts';
import type { Integration } from '../integrations/integration.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { Provider } from '../providers/definition.ts';
import type { ConnectionsServices } from '../services.ts';
import { checkedParams } from './params.ts';

/** An attempt of a user to authorize a connection, validated as far as possible without credentials. */
export interface Attempt {
  /** Id of its operation in the log that users read. */
  readonly id: string;
  readonly session: ConnectSession;
  readonly defaults: IntegrationDefaults;
  readonly integration: Integration;
  readonly provider: Provider;
  readonly rules: AuthModeRules;
  readonly connectionId: string;
  /** The connection to reauthorize; null = a new one. */
  readonly known: Connection | null;
  /** The input of the user, overridden by the values of the application. */
  readonly askedConfig: JsonObject;
  /** `askedConfig` over what the known connection has. */
  readonly connectionConfig: JsonObject;
}

export interface AttemptRequest {
  readonly session: ConnectSession;
  readonly integrationKey: string;
  readonly params: Readonly<Record<string, string>>;
  /** Whether the endpoint supports the provider. */
  readonly isFor: (provider: Provider) => boolean;
  /** Of an unknown integration; 404 when absent. */
  readonly unknownStatus?: number | undefined;
}

/**
 * The checks in the order of docs/reference/http.md#credential-forms.
 * @throws GatewayError `unknown_provider_config`, `unknown_provider_template`, `invalid_auth_mode`,
 *   `integration_not_allowed`, `invalid_connection`, `invalid_query_params`
 */
export async function beginAttempt(
  { control, providers, vault }: Pick<ConnectionsServices, 'control' | 'providers' | 'vault'>,
  { session, integrationKey, params, isFor, unknownStatus: status = 404 }: AttemptRequest,
): Promise<Attempt> {
  const code = 'unknown_provider_config';
  const { environmentUid } = session;
  const integration = await requireIntegration(control, environmentUid, integrationKey, {
    code,
    status,
  });
  const provider = providers.find(integration.provider);
  if (provider === null) throw new GatewayError('unknown_provider_template');
  if (!isFor(provider)) {
    const message = `The provider "${provider.name}" uses the authentication mode ${provider.auth_mode}.`;
    throw new GatewayError('invalid_auth_mode', { message });
  }
  const { allowedIntegrations } = session;
  if (allowedIntegrations.length > 0 && !allowedIntegrations.includes(integrationKey)) {
    throw new GatewayError('integration_not_allowed');
  }
  const existing = reconnected({ control }, session);
  const defaults = await defaultsOf(vault, session, integrationKey);
  const fixed = withoutEmpty({
    ...defaults.connectionConfig,
    ...tokenParamsOf(provider, defaults),
  });
  const stored = existing === null ? {} : await openConnectionConfig(vault, existing);
  const input = checkedParams(provider, params, { ...stored, ...fixed });
  const askedConfig = { ...input, ...fixed };
  return {
    id: randomUUID(),
    session,
    defaults,
    integration,
    provider,
    rules: authModeRules[provider.auth_mode],
    connectionId: existing?.connectionId ?? randomUUID(),
    known: existing,
    askedConfig,
    connectionConfig: { ...stored, ...askedConfig },
  };
}

/**
 * Without a redirect they are sent in the token calls, now and at every refresh
 * (docs/reference/auth-modes.md#oauth2_cc).
 */
function tokenParamsOf(
  { auth_mode: mode }: Provider,
  { authorizationParams }: IntegrationDefaults,
): JsonObject {
  const isMeant = mode === 'OAUTH2_CC' && authorizationParams !== undefined;
  return isMeant ? { authorization_params: authorizationParams } : {};
}

/** @throws GatewayError `invalid_connection`: it was deleted, or another has its id now */
function reconnected(
  { control }: Pick<ConnectionsServices, 'control'>,
  { environmentUid, reconnects }: ConnectSession,
): Connection | null {
  if (reconnects === null) return null;
  const { uid, integrationKey, connectionId } = reconnects;
  const existing = findConnection(control, environmentUid, integrationKey, connectionId);
  if (existing?.uid !== uid) throw new GatewayError('invalid_connection');
  return existing;
}

export const withoutEmpty = (config: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== '' && value !== null));

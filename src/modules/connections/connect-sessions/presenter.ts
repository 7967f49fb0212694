import type { JsonObject } from '../../../kernel/stable-json.ts';
import { presentEndUser } from '../connections/presenter.ts';
import { connectUiSettings } from '../../access/connect-ui/connect-ui.ts';
import type { Environment } from '../../access/environments/state.ts';
import { socketsPath } from '../../../http/sockets.ts';
import type { ConnectSession, SessionDefaults } from './state.ts';

/** The link for the user; it contains the token. */
export function connectLink(publicUrl: string, token: string): string {
  return `${publicUrl}/connect/ui/?session_token=${token}`;
}

/** The session for the connect page (docs/reference/http.md#connect-sessions). */
export function presentSession(
  session: ConnectSession,
  defaults: SessionDefaults,
  environment: Environment,
): JsonObject {
  const { endUser, allowedIntegrations, docs, reconnects } = session;
  const shownDefaults = Object.entries(defaults).map(([key, integrationDefaults]) => [
    key,
    {
      ...(integrationDefaults.connectionConfig === undefined
        ? {}
        : { connection_config: integrationDefaults.connectionConfig }),
      ...(integrationDefaults.authorizationParams === undefined
        ? {}
        : { authorization_params: integrationDefaults.authorizationParams }),
    },
  ]);
  const overrides = Object.entries(docs).map(([key, url]) => [key, { docs_connect: url }]);
  return {
    endUser: endUser === null ? null : presentEndUser(endUser),
    connectUISettings: connectUiSettings(environment),
    ...(allowedIntegrations.length === 0 ? {} : { allowed_integrations: allowedIntegrations }),
    ...(shownDefaults.length === 0
      ? {}
      : { integrations_config_defaults: Object.fromEntries(shownDefaults) as JsonObject }),
    ...(reconnects === null ? {} : { isReconnecting: true }),
    ...(overrides.length === 0 ? {} : { overrides: Object.fromEntries(overrides) as JsonObject }),
    websocketsPath: socketsPath,
  };
}

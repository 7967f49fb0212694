import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { saveAuthorized } from '#modules/connections/authorizations/save.ts';
import type { ConnectDeps } from '#modules/connections/connections/lifecycle.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { modeContext } from '#modules/connections/credentials/mode-context.ts';
import { completed } from '#modules/connections/credentials/modes/custom.ts';
import type { ModeContext } from '#modules/connections/credentials/modes/mode.ts';
import { ProviderAuthError } from '#modules/connections/credentials/modes/provider-auth-error.ts';
import { openConnectionConfig, openCredentials } from '#modules/connections/credentials/sealing.ts';
import type { Integration } from '#modules/connections/integrations/integration.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { ConnectionFinder } from './find-connections.ts';
import type { Installation } from './verdict.ts';

interface Deps extends ConnectDeps {
  readonly connectionFinder: ConnectionFinder;
  readonly http: HttpClient;
  readonly providers: ProviderCatalogue;
}

/**
 * Completes the connection that waits for the installation (docs/reference/webhooks-in.md#installations). A complete
 * connection stays unchanged: the webhook is a repeat.
 * @throws GatewayError `webhook_no_connection_or_existing_installation_id`, or the error of the provider
 */
export async function install(
  deps: Deps,
  { integration }: { readonly integration: Integration },
  { handle, id }: Installation,
): Promise<void> {
  const { environmentUid, uniqueKey: integrationKey, provider: name } = integration;
  const scope = { environmentUid, integrationKey };
  const provider = deps.providers.find(name);
  if (id === null || provider === null) throw isUnclaimed();
  const context = await modeContext(deps, integration, provider);
  const waiting = await pendingOf(deps, scope, handle, context);
  if (waiting === null) {
    const existing = await deps.connectionFinder.find(scope, 'installation_id', id);
    if (existing.length > 0) return;
    throw isUnclaimed();
  }
  const { connection, connectionConfig } = waiting;
  const held = await openCredentials(deps.vault, connection);
  const obtained = await completed(held, id, { ...context, connectionConfig }).catch(
    notifyInstalled,
  );
  const { connectionId, endUser, tags } = connection;
  // The connection keeps its own.
  const owner = { ...scope, connectionId, endUser, tags, webhookUrlOverride: null };
  await saveAuthorized(
    deps,
    { ...owner, provider, known: connection },
    { obtained, askedConfig: {} },
    { actor: 'system' },
  );
}

/** The first connection that waits for an installation of this app by the user. */
async function pendingOf(
  { connectionFinder, vault }: Deps,
  scope: { readonly environmentUid: string; readonly integrationKey: string },
  handle: string,
  { client }: ModeContext,
): Promise<{ readonly connection: Connection; readonly connectionConfig: JsonObject } | null> {
  for (const connection of await connectionFinder.find(scope, 'handle', handle)) {
    const connectionConfig = await openConnectionConfig(vault, connection);
    const appId = textAt(connectionConfig, 'app_id');
    const isOfApp = appId === null || appId === client?.appId;
    if (connectionConfig['pending'] === true && isOfApp) return { connection, connectionConfig };
  }
  return null;
}

function notifyInstalled(error: unknown): never {
  throw error instanceof ProviderAuthError ? error.toGatewayError() : error;
}

const isUnclaimed = (): GatewayError =>
  new GatewayError('webhook_no_connection_or_existing_installation_id');

import type { JsonObject } from '../../../kernel/stable-json.ts';
import type { Instant } from '../../../kernel/time.ts';
import { publicCredentials, withoutRefreshTokens } from '../credentials/public.ts';
import { openConnectionConfig, openCredentials, openMetadata } from '../credentials/sealing.ts';
import type { Vault } from '../../access/vault/vault.ts';
import { openUrl, urlOfConnection } from '../../access/vault/webhook-urls.ts';
import type { Connection, EndUser } from './state.ts';

export interface ConnectionView {
  readonly withCredentials: boolean;
  readonly withRefreshToken: boolean;
}

/** The response for a single connection (docs/reference/http.md#connections). */
export async function presentConnection(
  vault: Vault,
  connection: Connection,
  view: ConnectionView & { readonly fetchedAt?: Instant },
): Promise<JsonObject> {
  const config = await openConnectionConfig(vault, connection);
  const credentials = view.withCredentials
    ? publicCredentials(await openCredentials(vault, connection), view)
    : {};
  return {
    id: connection.id,
    connection_id: connection.connectionId,
    provider_config_key: connection.integrationKey,
    provider: connection.provider,
    errors: connection.errors.map((error) => ({ ...error })),
    end_user: connection.endUser === null ? null : presentEndUser(connection.endUser),
    tags: connection.tags,
    metadata: await openMetadata(vault, connection),
    connection_config: view.withRefreshToken ? config : withoutRefreshTokens(config),
    webhook_url_override: await openUrl(
      vault,
      urlOfConnection(connection),
      connection.webhookUrlOverride,
    ),
    created_at: isoOffset(connection.createdAt),
    updated_at: isoOffset(connection.updatedAt),
    // Creation counts as a fetch, so there is always a time.
    last_fetched_at: isoOffset(view.fetchedAt ?? connection.lastFetchedAt ?? connection.createdAt),
    credentials,
  };
}

/** An entry of the list; credentials as stored, without a refresh. */
export async function presentEntry(
  vault: Vault,
  connection: Connection,
  { withCredentials }: { readonly withCredentials: boolean },
): Promise<JsonObject> {
  const view = { withCredentials, withRefreshToken: false };
  const metadata = await openMetadata(vault, connection);
  const { endUser } = connection;
  return {
    id: connection.id,
    connection_id: connection.connectionId,
    provider: connection.provider,
    provider_config_key: connection.integrationKey,
    created: isoOffset(connection.createdAt),
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
    tags: connection.tags,
    errors: connection.errors.map((error) => ({ ...error })),
    ...(endUser === null ? {} : { end_user: presentEndUser(endUser) }),
    ...(withCredentials
      ? { credentials: publicCredentials(await openCredentials(vault, connection), view) }
      : {}),
  };
}

export function presentEndUser({
  id,
  displayName,
  email,
  tags,
  organization,
}: EndUser): JsonObject {
  return {
    id,
    display_name: displayName,
    email,
    tags,
    organization:
      organization === null
        ? null
        : { id: organization.id, display_name: organization.displayName },
  };
}

/** `2026-02-01T08:00:00.000+00:00`. */
function isoOffset(at: Instant): string {
  return new Date(at).toISOString().replace('Z', '+00:00');
}

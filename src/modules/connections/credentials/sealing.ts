import type { Sealed } from '#kernel/ids.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import type { Connection, Credentials } from '../connections/state.ts';
import type { Integration, IntegrationCredentials } from '../integrations/integration.ts';

type Owner = Pick<Connection, 'environmentUid' | 'uid'>;

/** Seals the secrets of one connection under its key; `vault.ready(uid)` comes first. */
export function connectionSealer(vault: Vault, { environmentUid, uid }: Owner) {
  const seal = <T extends Json>(field: string, value: T): Sealed<T> =>
    vault.seal(uid, value, sealingContext(environmentUid, uid, field));
  return {
    credentials: (value: Credentials): Sealed<Credentials> => seal('credentials', value),
    connectionConfig: (value: JsonObject): Sealed<JsonObject> => seal('connection_config', value),
    metadata: (value: JsonObject): Record<string, Sealed<Json>> =>
      Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, seal(`metadata.${key}`, item)]),
      ),
  };
}

/** @throws GatewayError `invalid_credentials`, `not_found` (the key was destroyed) */
export async function openCredentials(vault: Vault, connection: Connection): Promise<Credentials> {
  if (connection.credentials === null) return { type: connection.authMode };
  return openOf(vault, connection, 'credentials', connection.credentials);
}

export async function openConnectionConfig(
  vault: Vault,
  connection: Connection,
): Promise<JsonObject> {
  return openOf(vault, connection, 'connection_config', connection.connectionConfig);
}

/** The metadata as the caller gave it; an empty object when there is none. */
export async function openMetadata(vault: Vault, connection: Connection): Promise<JsonObject> {
  const entries = Object.entries(connection.metadata);
  if (entries.length === 0) return {};
  await vault.ready(connection.uid);
  const { environmentUid, uid } = connection;
  const opened = entries.map(([key, sealed]): [string, Json] => {
    return [key, vault.open(uid, sealed, sealingContext(environmentUid, uid, `metadata.${key}`))];
  });
  return Object.fromEntries(opened);
}

async function openOf<T extends Json>(
  vault: Vault,
  { environmentUid, uid }: Owner,
  field: string,
  sealed: Sealed<T>,
): Promise<T> {
  await vault.ready(uid);
  return vault.open(uid, sealed, sealingContext(environmentUid, uid, field));
}

/** Secrets of an integration are sealed under its environment's key. */
export function sealIntegrationCredentials(
  vault: Vault,
  { environmentUid, uid }: Pick<Integration, 'environmentUid' | 'uid'>,
  credentials: IntegrationCredentials,
): Sealed<IntegrationCredentials> {
  const context = sealingContext(environmentUid, uid, 'integration_credentials');
  const value = credentials as IntegrationCredentials & JsonObject;
  return vault.seal(environmentUid, value, context);
}

export async function openIntegrationCredentials(
  vault: Vault,
  integration: Pick<Integration, 'environmentUid' | 'uid' | 'credentials'>,
): Promise<IntegrationCredentials | null> {
  const { environmentUid, uid, credentials } = integration;
  if (credentials === null) return null;
  await vault.ready(environmentUid);
  const context = sealingContext(environmentUid, uid, 'integration_credentials');
  return vault.open(
    environmentUid,
    credentials as Sealed<JsonObject & IntegrationCredentials>,
    context,
  );
}

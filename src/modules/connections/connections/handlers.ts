import { randomUUID } from 'node:crypto';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { stableJson, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant, Clock } from '#kernel/time.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { changedUrl, sealUrl, urlOfConnection } from '#modules/access/vault/webhook-urls.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { modeContext } from '../credentials/mode-context.ts';
import { withNewJwt } from '../credentials/modes/installation.ts';
import type { ObtainedCredentials } from '../credentials/modes/mode.ts';
import { connectionSealer, openConnectionConfig, openCredentials } from '../credentials/sealing.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { ProviderCatalogue } from '../providers/catalogue.ts';
import type { Provider } from '../providers/definition.ts';
import { isVerifiable } from '../providers/verify.ts';
import { isRefusal } from './deletion.ts';
import { connectionRef, type ConnectionEntity } from './entity.ts';
import { setFields, type PlainInput } from './fields.ts';
import { isRenewedWhileValid } from './freshness.ts';
import { findConnection, requireConnection } from './queries.ts';
import { endUserTags, normalizeTags, type Connection, type EndUser } from './state.ts';

export { deleteConnection } from './deletion.ts';

/** What a request sets; tags override those that describe the end user. */
export type ProfileInput = PlainInput & {
  readonly endUser?: EndUser | null | undefined;
  /** In clear; null deletes it. */
  readonly webhookUrlOverride?: string | null | undefined;
};

export interface ConnectionImport extends ProfileInput {
  readonly environmentUid: string;
  readonly integrationKey: string;
  /** Generated when absent. */
  readonly connectionId?: string | undefined;
  /** Uid of the only connection that may get the credentials; no other is created. */
  readonly reconnects?: string | undefined;
  readonly provider: Provider;
  readonly credentials: ObtainedCredentials;
  readonly metadata?: JsonObject | undefined;
  readonly connectionConfig?: JsonObject | undefined;
  /** At another gateway; ignored for a connection that exists. */
  readonly createdAt?: Instant | undefined;
  /** Not published until confirmed (lifecycle.ts). */
  readonly isToBeValidated?: boolean;
}

const conflictTriesMax = 5;

/**
 * Creates the connection, or stores new credentials in the one with the id. `wasCreated` is false for the second.
 * @throws GatewayError `invalid_body` (tags, metadata too large), `idempotency_conflict`, `invalid_connection` (the one
 *   to reconnect was deleted)
 */
export async function importConnection(
  deps: SealedEntities,
  wanted: ConnectionImport,
  options: ExecuteOptions,
): Promise<{ readonly connection: Connection; readonly wasCreated: boolean }> {
  const { environmentUid, integrationKey } = wanted;
  checkMetadata(wanted.metadata);
  const connectionId = wanted.connectionId ?? newConnectionId(environmentUid, options);
  for (let tries = 1; ; tries += 1) {
    const existing = findConnection(deps.control, environmentUid, integrationKey, connectionId);
    if (wanted.reconnects !== undefined && wanted.reconnects !== existing?.uid) {
      throw new GatewayError('invalid_connection');
    }
    try {
      return await importOnce(deps, { ...wanted, connectionId }, existing, options);
    } catch (error) {
      // Created or deleted concurrently: seal again, under the current key.
      const isConflict = error instanceof GatewayError && error.code === 'conflict';
      if (!isConflict || tries >= conflictTriesMax) throw error;
      await deps.control.view.caughtUp();
    }
  }
}

/** A repeated request must create the same connection, so its id is derived from the Idempotency-Key. */
function newConnectionId(environmentUid: string, { idempotencyKey }: ExecuteOptions): string {
  return idempotencyKey === undefined ? randomUUID() : uuidV5(environmentUid, idempotencyKey);
}

async function importOnce(
  { control, vault }: SealedEntities,
  wanted: ConnectionImport & { readonly connectionId: string },
  existing: Connection | null,
  options: ExecuteOptions,
): Promise<{ readonly connection: Connection; readonly wasCreated: boolean }> {
  const { environmentUid, integrationKey, connectionId } = wanted;
  const uid = existing?.uid ?? randomUUID();
  await (existing === null ? vault.create(uid) : vault.ready(uid));
  const url = wanted.webhookUrlOverride;
  const urlOwner = urlOfConnection({ environmentUid, uid });
  const body: CommandOf<ConnectionEntity> = {
    ...importBody(vault, wanted, uid),
    ...(url === undefined ? {} : { webhookUrlOverride: await sealUrl(vault, urlOwner, url) }),
  };
  const { provider, ...request } = wanted;
  const requestHash = vault.fingerprint('request', JSON.stringify([provider.name, request]));
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  let connection: Connection | null;
  try {
    connection = await control.execute(ref, body, { requestHash, ...options });
  } catch (error) {
    if (existing === null && isRefusal(error)) await vault.shred(uid);
    throw error;
  }
  if (connection === null) {
    const message =
      'The connection that the first request with this Idempotency-Key created no longer exists.';
    throw new GatewayError('conflict', { message });
  }
  // A repeated request returned the connection of the first one: nothing is sealed under this key.
  if (existing === null && connection.uid !== uid) await vault.shred(uid);
  return { connection, wasCreated: existing === null };
}

function importBody(
  vault: Vault,
  wanted: ConnectionImport & { readonly connectionId: string },
  uid: string,
): CommandOf<ConnectionEntity> {
  const { environmentUid, integrationKey, connectionId, provider, metadata, endUser, tags } =
    wanted;
  const { credentials, expiresAt } = wanted.credentials;
  const seal = connectionSealer(vault, { environmentUid, uid });
  const derived = endUser === undefined || endUser === null ? {} : endUserTags(endUser);
  const isTagged = tags !== undefined || endUser !== undefined;
  return {
    type: 'Import',
    uid,
    environmentUid,
    integrationKey,
    connectionId,
    provider: provider.name,
    authMode: provider.auth_mode,
    credentials: credentials === null ? null : seal.credentials(credentials),
    fingerprint: credentials === null ? null : credentialsFingerprint(vault, credentials),
    expiresAt,
    metadata: metadata === undefined ? undefined : seal.metadata(metadata),
    connectionConfig: seal.connectionConfig(wanted.connectionConfig ?? {}),
    ...setFields(wanted),
    tags: isTagged ? { ...normalizeTags(derived), ...normalizeTags(tags ?? {}) } : undefined,
    endUser,
    isToBeValidated: wanted.isToBeValidated,
    createdAt: wanted.createdAt,
    isTested: expiresAt === null && isVerifiable(provider),
    ...(isRenewedWhileValid(provider) ? { isRenewedWhileValid: true } : {}),
  };
}

/** Distinguishes renewed credentials (`fingerprint` of docs/reference/topics.md#svccredentialsv1: 16 bytes, hex). */
export function credentialsFingerprint(vault: Vault, credentials: JsonObject): string {
  return vault.fingerprint('credentials', stableJson(credentials)).slice(0, 32);
}

function checkMetadata(metadata: JsonObject | undefined): void {
  if (metadata === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes <= limits.metadataBytesMax) return;
  const message = `The metadata has ${bytes} bytes of JSON; the limit is ${limits.metadataBytesMax}.`;
  throw new GatewayError('invalid_body', {
    errors: [{ code: 'too_big', message, path: ['metadata'] }],
  });
}

/**
 * Changes the profile. Tags in the request replace all (after those of the end user); an end user without tags merges
 * its own into the stored ones.
 * @throws GatewayError `unknown_connection`, `invalid_body` (tags)
 */
export async function patchConnection(
  { control, vault }: SealedEntities,
  existing: Connection,
  patch: ProfileInput,
  options: ExecuteOptions,
): Promise<Connection> {
  const { tags, webhookUrlOverride } = patch;
  const endUser = patch.endUser === undefined ? existing.endUser : patch.endUser;
  const derived = endUser === null ? {} : normalizeTags(endUserTags(endUser));
  const url = () =>
    changedUrl(
      vault,
      urlOfConnection(existing),
      webhookUrlOverride ?? null,
      existing.webhookUrlOverride,
    );
  const changes = {
    ...setFields(patch),
    ...(patch.endUser === undefined ? {} : { endUser, tags: { ...existing.tags, ...derived } }),
    ...(tags === undefined ? {} : { tags: { ...derived, ...normalizeTags(tags) } }),
    ...(webhookUrlOverride === undefined ? {} : { webhookUrlOverride: await url() }),
  };
  const { environmentUid, integrationKey, connectionId } = existing;
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  const body: CommandOf<ConnectionEntity> = { type: 'Patch', changes };
  const requestHash = vault.fingerprint('request', JSON.stringify(patch));
  const patched = await control.execute(ref, body, { requestHash, ...options });
  if (patched === null) throw new GatewayError('unknown_connection');
  return patched;
}

/**
 * Replaces or merges (top-level keys) the metadata of each connection. All are looked up before the first is
 * changed.
 * @throws GatewayError `unknown_connection` (404), `unknown_provider_config` (404), `invalid_body` (size)
 */
export async function writeMetadata(
  { control, vault }: SealedEntities,
  wanted: {
    readonly environmentUid: string;
    readonly integrationKey: string;
    readonly connectionIds: readonly string[];
    readonly metadata: JsonObject;
    readonly how: 'replace' | 'merge';
  },
  options: ExecuteOptions,
): Promise<void> {
  const { environmentUid, integrationKey, metadata, how } = wanted;
  checkMetadata(metadata);
  const connections = await Promise.all(
    wanted.connectionIds.map((connectionId) =>
      requireConnection(control, environmentUid, integrationKey, connectionId),
    ),
  );
  await Promise.all(
    connections.map(async (connection) => {
      const { uid, connectionId } = connection;
      await vault.ready(uid);
      const sealed = connectionSealer(vault, connection).metadata(metadata);
      const type = how === 'replace' ? 'SetMetadata' : 'MergeMetadata';
      const ref = connectionRef(environmentUid, integrationKey, connectionId);
      await control.execute(ref, { type, uid, metadata: sealed }, options);
    }),
  );
}

/**
 * Stores refreshed credentials, unless others were stored since `known` was read.
 * @throws GatewayError `conflict`, `unknown_connection`
 */
export async function storeCredentials(
  { control, vault }: SealedEntities,
  existing: Connection,
  renewed: ObtainedCredentials & { readonly rotatesToken?: boolean | null },
  options: ExecuteOptions,
): Promise<Connection> {
  const { environmentUid, integrationKey, connectionId, uid } = existing;
  await vault.ready(uid);
  const { credentials, expiresAt, connectionConfig, rotatesToken = null } = renewed;
  const seal = connectionSealer(vault, existing);
  const config =
    connectionConfig === undefined || Object.keys(connectionConfig).length === 0
      ? null
      : { ...(await openConnectionConfig(vault, existing)), ...connectionConfig };
  const body: CommandOf<ConnectionEntity> = {
    type: 'StoreCredentials',
    uid,
    ifVersion: existing.credentialsVersion,
    credentials: credentials === null ? null : seal.credentials(credentials),
    fingerprint: credentials === null ? null : credentialsFingerprint(vault, credentials),
    expiresAt,
    rotatesToken,
    connectionConfig: config === null ? null : seal.connectionConfig(config),
  };
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  const stored = await control.execute(ref, body, options);
  if (stored === null) throw new GatewayError('unknown_connection');
  return stored;
}

const fetchNotedEveryMs = 3_600_000;

/** Records a fetch of the connection in the log, at most about once an hour. */
export async function noteFetched(
  { control, clock }: { readonly control: ControlPlane; readonly clock: Clock },
  { environmentUid, integrationKey, connectionId, uid, lastFetchedAt }: Connection,
): Promise<void> {
  const now = clock.now();
  if (lastFetchedAt !== null && now - lastFetchedAt < fetchNotedEveryMs) return;
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  await control.enqueue(ref, { type: 'ObserveFetch', uid, fetchedAt: now }, { actor: 'system' });
}

interface RenewalDeps extends SealedEntities {
  readonly providers: ProviderCatalogue;
  readonly http: HttpClient;
  readonly clock: Clock;
}

/**
 * Creates a new JWT for the connection of an app, and keeps its tokens (docs/reference/auth-modes.md#app); returns any
 * other connection unchanged. Needs no lease, because it does not call the provider.
 * @throws GatewayError `invalid_credentials` (the key of the app cannot sign), `unknown_connection`
 */
export async function renewJwt(deps: RenewalDeps, existing: Connection): Promise<Connection> {
  const { control, vault, providers } = deps;
  const { environmentUid, integrationKey, connectionId, expiresAt } = existing;
  const provider = providers.find(existing.provider);
  if (provider === null || existing.credentials === null) return existing;
  const held = await openCredentials(vault, existing);
  const integration = await requireIntegration(control, environmentUid, integrationKey);
  const config = await openConnectionConfig(vault, existing);
  const credentials = await withNewJwt(
    held,
    await modeContext(deps, integration, provider, config),
  );
  if (credentials === null) return existing;
  try {
    return await storeCredentials(deps, existing, { credentials, expiresAt }, { actor: 'system' });
  } catch (error) {
    // Another fetch stored credentials concurrently: their JWT is as new.
    if (!(error instanceof GatewayError) || error.code !== 'conflict') throw error;
    return findConnection(control, environmentUid, integrationKey, connectionId) ?? existing;
  }
}

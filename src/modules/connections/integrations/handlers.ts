import { randomUUID } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import { commandTo, type CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { EnvironmentDependents } from '#modules/access/environments/dependents.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { deleteConnection, type DeletionDeps } from '../connections/deletion.ts';
import { connectionEntity } from '../connections/entity.ts';
import { connectionsOfIntegration } from '../connections/queries.ts';
import { openIntegrationCredentials, sealIntegrationCredentials } from '../credentials/sealing.ts';
import type { Provider } from '../providers/definition.ts';
import { parseIntegrationCredentials } from './credentials.ts';
import type { IntegrationDependents } from './dependents.ts';
import { integrationRef, type IntegrationEntity, integrationEntity } from './entity.ts';
import type {
  IntegrationSettings,
  Integration,
  IntegrationCredentials,
  RateLimitSetting,
} from './integration.ts';
import { requireIntegration } from './queries.ts';

/**
 * Creates an integration. `credentials` is the part of the body as sent.
 * @throws GatewayError `invalid_body` (the key is taken, the credentials do not fit), `idempotency_conflict`
 */
export async function createIntegration(
  { control, vault }: SealedEntities,
  wanted: {
    readonly environmentUid: string;
    readonly uniqueKey: string;
    readonly provider: Provider;
    readonly displayName?: string | undefined;
    readonly credentials?: unknown;
    readonly forwardWebhooks?: boolean | undefined;
    readonly revokeOnDisconnect?: boolean | undefined;
    readonly rateLimit?: RateLimitSetting | undefined;
    readonly integrationConfig?: Readonly<Record<string, string>> | undefined;
    readonly custom?: Readonly<Record<string, string>> | undefined;
  },
  options: ExecuteOptions,
): Promise<Integration> {
  const { environmentUid, uniqueKey, provider } = wanted;
  const parsed = parseIntegrationCredentials(provider, wanted.credentials);
  const uid = randomUUID();
  await vault.ready(environmentUid);
  const owner = { environmentUid, uid };
  const body: CommandOf<IntegrationEntity> = {
    type: 'Create',
    uid,
    environmentUid,
    uniqueKey,
    displayName: wanted.displayName ?? provider.display_name,
    provider: provider.name,
    forwardWebhooks: wanted.forwardWebhooks ?? true,
    ...(wanted.revokeOnDisconnect === true ? { revokeOnDisconnect: true } : {}),
    ...(wanted.rateLimit === undefined ? {} : { rateLimit: wanted.rateLimit }),
    credentials: parsed === null ? null : sealIntegrationCredentials(vault, owner, parsed),
    integrationConfig: wanted.integrationConfig ?? {},
    custom: wanted.custom ?? {},
  };
  const requestHash = vault.fingerprint(
    'request',
    JSON.stringify({ ...wanted, provider: provider.name }),
  );
  const ref = integrationRef(environmentUid, uniqueKey);
  const made = await control.execute(ref, body, { requestHash, ...options });
  if (made === null) throw new GatewayError('server_error');
  return made;
}

export interface IntegrationPatch {
  readonly uniqueKey?: string | undefined;
  readonly displayName?: string | undefined;
  /** The part of the body as sent. */
  readonly credentials?: unknown;
  readonly forwardWebhooks?: boolean | undefined;
  readonly revokeOnDisconnect?: boolean | undefined;
  readonly rateLimit?: RateLimitSetting | undefined;
  /** Absent fields stay; an empty value removes one. */
  readonly integrationConfig?: Readonly<Record<string, string>> | undefined;
  /** Merged. */
  readonly custom?: Readonly<Record<string, string>> | undefined;
}

interface UpdateDeps extends SealedEntities {
  readonly integrationDependents: readonly IntegrationDependents[];
}

const conflictTriesMax = 5;

/**
 * Changes the fields that are sent. A new key moves the integration with its functions.
 * @throws GatewayError `not_found`, `invalid_body` (the key is taken, connections exist, credentials do not fit)
 */
export async function updateIntegration(
  deps: UpdateDeps,
  environmentUid: string,
  uniqueKey: string,
  patch: IntegrationPatch,
  provider: Provider,
  options: ExecuteOptions,
): Promise<Integration> {
  for (let tries = 1; ; tries += 1) {
    const existing = await requireIntegration(deps.control, environmentUid, uniqueKey);
    try {
      return await updateOnce(deps, existing, patch, provider, options);
    } catch (error) {
      // Another caller changed the credentials in between: merge with theirs.
      const isConflict = error instanceof GatewayError && error.code === 'conflict';
      if (!isConflict || tries >= conflictTriesMax) throw error;
    }
  }
}

async function updateOnce(
  deps: UpdateDeps,
  existing: Integration,
  patch: IntegrationPatch,
  provider: Provider,
  options: ExecuteOptions,
): Promise<Integration> {
  const { control, vault } = deps;
  const { environmentUid, uniqueKey } = existing;
  const changes = await changesOf(deps, existing, patch, provider);
  const ifCredentials = 'credentials' in changes ? { ifCredentials: existing.credentials } : {};
  const update: CommandOf<IntegrationEntity> = { type: 'Update', changes, ...ifCredentials };
  const ref = integrationRef(environmentUid, uniqueKey);
  if (patch.uniqueKey === undefined || patch.uniqueKey === uniqueKey) {
    const changed = await control.execute(ref, update, options);
    if (changed === null) throw new GatewayError('not_found');
    return changed;
  }
  refuseWithConnections(deps, existing);
  for (const dependents of deps.integrationDependents) dependents.refuseMove(existing);
  await vault.ready(environmentUid);
  const target = patch.uniqueKey;
  const moved = { ...existing, ...changes, uniqueKey: patch.uniqueKey };
  const [, , arrived] = await control.askAll(
    [
      commandTo(ref, update),
      commandTo(ref, { type: 'Leave' }),
      commandTo(integrationRef(environmentUid, patch.uniqueKey), {
        type: 'Arrive',
        integration: moved,
      }),
      ...deps.integrationDependents.flatMap((dependents) => dependents.moves(existing, target)),
    ],
    options,
  );
  if (arrived === null) throw new GatewayError('not_found');
  return arrived;
}

async function changesOf(
  { vault }: SealedEntities,
  existing: Integration,
  patch: IntegrationPatch,
  provider: Provider,
): Promise<Partial<IntegrationSettings>> {
  const { displayName, forwardWebhooks, revokeOnDisconnect, rateLimit } = patch;
  const { integrationConfig, custom } = patch;
  const credentials =
    patch.credentials === undefined ? {} : { credentials: await mergedCredentials() };
  return {
    ...credentials,
    ...(displayName === undefined ? {} : { displayName }),
    ...(forwardWebhooks === undefined ? {} : { forwardWebhooks }),
    ...(revokeOnDisconnect === undefined ? {} : { revokeOnDisconnect }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(integrationConfig === undefined
      ? {}
      : {
          integrationConfig: withoutEmpty({ ...existing.integrationConfig, ...integrationConfig }),
        }),
    ...(custom === undefined ? {} : { custom: { ...existing.custom, ...custom } }),
  };

  async function mergedCredentials() {
    const stored = await openIntegrationCredentials(vault, existing);
    const parsed = parseIntegrationCredentials(provider, patch.credentials, stored);
    return parsed === null ? null : sealIntegrationCredentials(vault, existing, parsed);
  }
}

const withoutEmpty = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));

function refuseWithConnections({ control }: SealedEntities, existing: Integration): void {
  const { environmentUid, uniqueKey } = existing;
  if (connectionsOfIntegration(control, environmentUid, uniqueKey).length === 0) return;
  const message = 'An integration with connections keeps its unique key.';
  throw new GatewayError('invalid_body', {
    message,
    errors: [{ code: 'custom', message, path: ['unique_key'] }],
  });
}

/** The integration's secrets, or null when it has none. */
export function readIntegrationCredentials(
  { vault }: { readonly vault: Vault },
  integration: Integration,
): Promise<IntegrationCredentials | null> {
  return openIntegrationCredentials(vault, integration);
}

/**
 * Deletes the integration with its connections, syncs and functions. Readers do not see it from the first step on.
 * `resumeDeletions` finishes an interrupted deletion.
 * @throws GatewayError `not_found`
 */
export async function deleteIntegration(
  deps: DeletionDeps & { readonly integrationDependents: readonly IntegrationDependents[] },
  environmentUid: string,
  uniqueKey: string,
  options: ExecuteOptions,
): Promise<void> {
  await requireIntegration(deps.control, environmentUid, uniqueKey);
  const ref = integrationRef(environmentUid, uniqueKey);
  await deps.control.execute(ref, { type: 'MarkDeleting' }, options);
  await finishIntegrationDeletion(deps, environmentUid, uniqueKey, options);
}

/** Removes everything that an integration being deleted still has, then the integration. */
export async function finishIntegrationDeletion(
  deps: DeletionDeps & { readonly integrationDependents: readonly IntegrationDependents[] },
  environmentUid: string,
  uniqueKey: string,
  options: ExecuteOptions,
): Promise<void> {
  const { control } = deps;
  await control.view.caughtUp();
  for (const connection of connectionsOfIntegration(control, environmentUid, uniqueKey)) {
    await deleteConnection(deps, connection, options);
  }
  const named = { environmentUid, uniqueKey };
  await control.askAll(
    [
      ...deps.integrationDependents.flatMap((dependents) => dependents.removals(named)),
      commandTo(integrationRef(environmentUid, uniqueKey), { type: 'Delete' }),
    ],
    options,
  );
}

interface EnvironmentDeletionDeps extends DeletionDeps {
  readonly integrationDependents: readonly IntegrationDependents[];
}

/** Integrations with their connections; connections that were made while their integration was being deleted as well. */
export function integrationsOfEnvironments(deps: EnvironmentDeletionDeps): EnvironmentDependents {
  const { control } = deps;
  const { view } = control;
  return {
    async remove(environmentUid, options) {
      for (const { state } of view.list(integrationEntity, [environmentUid])) {
        const ref = integrationRef(environmentUid, state.uniqueKey);
        await control.execute(ref, { type: 'MarkDeleting' }, options);
        await finishIntegrationDeletion(deps, environmentUid, state.uniqueKey, options);
      }
      for (const { state } of view.list(connectionEntity, [environmentUid])) {
        await deleteConnection(deps, state, options);
      }
    },
    async resume(options) {
      for (const { state } of view.listBy(integrationEntity, 'deleting', 'yes')) {
        await finishIntegrationDeletion(deps, state.environmentUid, state.uniqueKey, options);
      }
      for (const { state } of view.listBy(connectionEntity, 'deleting', 'yes')) {
        await deleteConnection(deps, state, options);
      }
    },
  };
}

import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { expiringCache } from '#kernel/cache.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Instant, Clock } from '#kernel/time.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { SealedEntities, SharedValues } from '../services.ts';
import { sealingContext, type Vault } from '../vault/vault.ts';
import type { ApiKey } from './api-key.ts';
import {
  accountKeyEntity,
  accountKeyRef,
  apiKeyEntity,
  apiKeyRef,
  type KeyEntity,
} from './entity.ts';
import { isKeyFormat, isKeyOf, newSecret } from './key-format.ts';
import { findKey } from './queries.ts';

const refOf = (environmentUid: string | null, id: string) =>
  environmentUid === null ? accountKeyRef(id) : apiKeyRef(environmentUid, id);

/**
 * Creates a key, which is valid at once on this node, and on the others from their next request.
 * @throws GatewayError `conflict` (the name is taken), `resource_capped`, `idempotency_conflict`
 */
export async function createKey(
  { control, vault }: SealedEntities,
  wanted: {
    /** Null for an account key. */
    readonly environmentUid: string | null;
    readonly displayName: string;
    /** Full access when absent. */
    readonly scopes?: readonly string[] | undefined;
    /** Generated when absent. */
    readonly secret?: string | undefined;
  },
  options: ExecuteOptions,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const { environmentUid, displayName } = wanted;
  const secret = wanted.secret ?? newSecret(environmentUid === null ? 'account' : 'environment');
  if (!isKeyFormat(secret)) throw new GatewayError('invalid_secret_key_format');
  const id = randomUUID();
  const sealedBy = environmentUid ?? 'account';
  await vault.ready(sealedBy);
  const fullAccess = environmentUid === null ? 'account:*' : 'environment:*';
  const scopes = wanted.scopes ?? [fullAccess];
  const body: CommandOf<KeyEntity> = {
    type: 'Create',
    id,
    environmentUid,
    displayName,
    scopes,
    hash: hashOf(vault, secret),
    secret: vault.seal(sealedBy, secret, sealingContext(sealedBy, id, 'api_key')),
    lastFour: secret.slice(-4),
  };
  const requestHash = vault.fingerprint('request', JSON.stringify([displayName, scopes]));
  const key = await control.execute(refOf(environmentUid, id), body, {
    requestHash,
    ...options,
  });
  if (key === null) throw new GatewayError('server_error');
  return { key, secret: await revealKey({ vault }, key) };
}

/** The secret of a key, decrypted from its sealed copy. */
export async function revealKey(
  { vault }: { readonly vault: Vault },
  key: ApiKey,
): Promise<string> {
  const sealedBy = key.environmentUid ?? 'account';
  await vault.ready(sealedBy);
  return vault.open(sealedBy, key.secret, sealingContext(sealedBy, key.id, 'api_key'));
}

/**
 * Deletes a key. Every node refuses it at once or, without coordination, when its view has applied the deletion.
 * @throws GatewayError `not_found`
 */
export async function deleteKey(
  { control, coordination, logger }: SharedValues & { readonly control: ControlPlane },
  environmentUid: string | null,
  id: string,
  options: ExecuteOptions,
): Promise<void> {
  if (findKey(control, environmentUid, id) === null) await control.view.caughtUp();
  if (findKey(control, environmentUid, id) === null) {
    throw new GatewayError('not_found', {
      message: `The API key with the id ${id} does not exist.`,
    });
  }
  await control.execute(refOf(environmentUid, id), { type: 'Delete' }, options);
  await notifyRevoked(coordination, id).catch((err: unknown) => {
    logger.warn({ err, keyId: id }, 'the other nodes hear of a deleted key from the log alone');
  });
}

/** The key of a secret, or null. A key created on another node is found by the next request on this one. */
export async function authenticate(
  { control, vault }: SealedEntities,
  secret: string,
): Promise<ApiKey | null> {
  if (!isKeyFormat(secret)) return null;
  const hash = hashOf(vault, secret);
  const kind = isKeyOf('account', secret) ? accountKeyEntity : apiKeyEntity;
  const existing = control.view.findBy(kind, 'hash', hash);
  if (existing !== null) return existing.state;
  await control.view.caughtUp();
  return control.view.findBy(kind, 'hash', hash)?.state ?? null;
}

const useNotedEveryMs = 3_600_000;
const useSharedEveryMs = 60_000;
/** Keys whose last use is remembered; a forgotten one is recorded once more. */
const rememberedMax = 10_000;

/**
 * Records the use of a key: between the nodes at most once a minute, in the log at most once an hour. A lost record
 * only makes "last used" older; without coordination the value of the log is shown.
 */
export function createUseNoter(deps: {
  readonly control: ControlPlane;
  readonly coordination: Coordination;
  readonly clock: Clock;
}) {
  const { control, coordination, clock } = deps;
  const shared = expiringCache<true>(rememberedMax, useSharedEveryMs, clock);
  const noted = expiringCache<true>(rememberedMax, useNotedEveryMs, clock);

  const isDue = (key: ApiKey): boolean => !shared.has(key.id);
  return {
    /** Whether its use is due to be recorded. */
    isDue,
    async noteUsed(key: ApiKey): Promise<void> {
      if (!isDue(key)) return;
      const now = clock.now();
      shared.set(key.id, true);
      const kept = { ttlMs: 2 * useNotedEveryMs };
      await coordination.set(usedName(key.id), String(now), kept).catch(unlessAway);
      if (noted.has(key.id) || now - (key.lastUsedAt ?? 0) < useNotedEveryMs) return;
      noted.set(key.id, true);
      const ref = refOf(key.environmentUid, key.id);
      await control.enqueue(ref, { type: 'ObserveUse', usedAt: now }, { actor: 'system' });
    },
    async lastUsedAt(key: ApiKey): Promise<Instant | null> {
      const recent = Number((await coordination.get(usedName(key.id)).catch(unlessAway)) ?? 0);
      return Math.max(recent, key.lastUsedAt ?? 0) || null;
    },
  };
}

function unlessAway(error: unknown): null {
  if (error instanceof GatewayError && error.code === 'coordination_unavailable') return null;
  throw error;
}

const usedName = (id: string): string => `key-used/${id}`;

const hashOf = (vault: Vault, secret: string): string => vault.fingerprint('api-key', secret);

const channel = 'keys-revoked';

/** Keys that were deleted on any node, before this node's view has applied the deletion. */
export interface Revocations extends AsyncDisposable {
  has(keyId: string): boolean;
}

/** Subscribes to deletions. */
export async function openRevocations(coordination: Coordination): Promise<Revocations> {
  const revoked = new LRUCache<string, true>({ max: rememberedMax });
  const subscription = await coordination.subscribe(channel, (keyId) => {
    revoked.set(keyId, true);
  });
  return {
    has: (keyId) => revoked.has(keyId),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}

/**
 * Notifies every node.
 * @throws GatewayError `coordination_unavailable`: nodes learn it only from the log
 */
export const notifyRevoked = (coordination: Coordination, keyId: string): Promise<void> =>
  coordination.publish(channel, keyId);

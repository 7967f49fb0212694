import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  findCaughtUp,
  type ExecuteOptions,
  type ControlPlane,
} from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { expiringCache } from '#kernel/cache.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMillis, type Instant, type Clock } from '#kernel/time.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { SealedEntities, SharedValues } from '../services.ts';
import { sealingContext, type Vault } from '../vault/vault.ts';
import { type ApiKey, type KeySecret } from './api-key.ts';
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
 * @throws GatewayError `conflict` (the name is taken), `invalid_body` (it would have expired), `resource_capped`,
 *   `idempotency_conflict`
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
    /** Never when absent. */
    readonly expiresAt?: Instant | null | undefined;
  },
  options: ExecuteOptions,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const { environmentUid, displayName, expiresAt = null } = wanted;
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
    ...sealSecret(vault, { environmentUid, id }, secret),
    ...(expiresAt === null ? {} : { expiresAt }),
  };
  const request = [displayName, scopes, ...(expiresAt === null ? [] : [expiresAt])];
  const requestHash = vault.fingerprint('request', JSON.stringify(request));
  const key = await control.execute(refOf(environmentUid, id), body, {
    requestHash,
    ...options,
  });
  if (key === null) throw new GatewayError('server_error');
  return { key, secret: await revealKey({ vault }, key) };
}

/** A secret as an event holds it. */
function sealSecret(
  vault: Vault,
  { environmentUid, id }: Pick<ApiKey, 'environmentUid' | 'id'>,
  secret: string,
): KeySecret {
  const sealedBy = environmentUid ?? 'account';
  return {
    hash: hashOf(vault, secret),
    secret: vault.seal(sealedBy, secret, sealingContext(sealedBy, id, 'api_key')),
    lastFour: secret.slice(-4),
  };
}

/**
 * Gives the key another secret. The one before opens it for the overlap, and no session of the console that it opened
 * outlasts it.
 * @throws GatewayError `not_found`, `conflict` (it has expired, or still has an earlier secret), `invalid_body`
 */
export async function rotateKey(
  services: SealedEntities & SharedValues,
  key: ApiKey,
  wanted: {
    readonly overlapMs: number;
    /** Null: never; absent: as before. */
    readonly expiresAt?: Instant | null | undefined;
  },
  options: ExecuteOptions,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const { control, vault } = services;
  const { environmentUid, id } = key;
  await vault.ready(environmentUid ?? 'account');
  const secret = newSecret(environmentUid === null ? 'account' : 'environment');
  const { overlapMs, expiresAt } = wanted;
  const body: CommandOf<KeyEntity> = {
    type: 'Rotate',
    ...sealSecret(vault, key, secret),
    overlapMs,
    expiresAt,
  };
  const requestHash = vault.fingerprint('request', JSON.stringify([id, overlapMs, expiresAt]));
  const rotated = await control.execute(refOf(environmentUid, id), body, {
    requestHash,
    ...options,
  });
  if (rotated === null) throw new GatewayError('server_error');
  if (overlapMs === 0) await notifyEnded(services, rotated);
  return { key: rotated, secret: await revealKey({ vault }, rotated) };
}

/**
 * Ends the secret that a rotation replaced, before its time, on every node.
 * @throws GatewayError `not_found`: there is none that is valid
 */
export async function endPreviousSecret(
  services: SharedValues & { readonly control: ControlPlane },
  { environmentUid, id }: ApiKey,
  options: ExecuteOptions,
): Promise<ApiKey> {
  const ref = refOf(environmentUid, id);
  const ended = await services.control.execute(ref, { type: 'EndPreviousSecret' }, options);
  if (ended === null) throw new GatewayError('server_error');
  await notifyEnded(services, ended);
  return ended;
}

async function notifyEnded(
  { coordination, logger }: SharedValues,
  { id, previous }: ApiKey,
): Promise<void> {
  if (previous === undefined) return;
  await notifyRevoked(coordination, previous.hash).catch((err: unknown) => {
    logger.warn({ err, keyId: id }, 'the other nodes hear of an ended secret from the log alone');
  });
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

/** A key, opened by a secret. */
export interface OpenedKey {
  readonly key: ApiKey;
  /** Keyed hash of the secret: a key has two while it is rotated. */
  readonly hash: string;
  /** From when on this secret opens it no more; null: never. */
  readonly validUntil: Instant | null;
}

/**
 * The key of a secret, or null. A key created, or rotated, on another node is found by the next request on this one.
 * @throws GatewayError `expired_api_key`
 */
export async function authenticate(
  { control, vault, clock }: SealedEntities & { readonly clock: Clock },
  secret: string,
): Promise<OpenedKey | null> {
  if (!isKeyFormat(secret)) return null;
  const hash = hashOf(vault, secret);
  const kind = isKeyOf('account', secret) ? accountKeyEntity : apiKeyEntity;
  const find = (): ApiKey | null =>
    (control.view.findBy(kind, 'hash', hash) ?? control.view.findBy(kind, 'previousHash', hash))
      ?.state ?? null;
  const key = await findCaughtUp(control.view, find);
  if (key === null) return null;
  const opened = { key, hash, validUntil: validUntilOf(key, hash) };
  mustBeValid(opened, clock.now());
  return opened;
}

/** When the secret of this hash ceases to open the key; null: never. In the past for a secret that is none of its two. */
function validUntilOf(key: ApiKey, hash: string): Instant | null {
  const expiresAt = key.expiresAt ?? null;
  if (hash === key.hash) return expiresAt;
  const end = hash === key.previous?.hash ? key.previous.validUntil : 0;
  return expiresAt === null ? end : Math.min(expiresAt, end);
}

/** @throws GatewayError `expired_api_key` */
function mustBeValid({ key, hash, validUntil }: OpenedKey, now: Instant): void {
  if (validUntil === null || now < validUntil) return;
  const { displayName: name, previous } = key;
  const end = isoMillis(validUntil);
  const message =
    hash === previous?.hash
      ? `The API key "${name}" was rotated; the secret of this request was valid until ${end}.`
      : `The API key "${name}" expired at ${end}.`;
  throw new GatewayError('expired_api_key', { message });
}

/** Whether the secret of the hash opens the key now; without a hash, whether the key has not expired. */
export function opensKey(key: ApiKey, hash: string | undefined, now: Instant): boolean {
  const validUntil = validUntilOf(key, hash ?? key.hash);
  return validUntil === null || now < validUntil;
}

const useNotedEveryMs = 3_600_000;
const useSharedEveryMs = 60_000;
/** Keys whose last use is remembered; a forgotten one is recorded once more. */
const rememberedMax = 10_000;

/** The last use of a secret. */
export interface LastUse {
  readonly at: Instant | null;
  /** The network of the client; null: it is not known. */
  readonly from: string | null;
}

/** A secret of a key, by its keyed hash. */
interface UsedSecret {
  readonly key: ApiKey;
  readonly hash: string;
}

/**
 * Records the use of a secret: between the nodes at most once a minute, in the log at most once an hour. A lost record
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

  const isDue = ({ hash }: UsedSecret): boolean => !shared.has(hash);
  return {
    /** Whether its use is due to be recorded. */
    isDue,
    /** @param from the network of the client */
    async noteUsed(used: UsedSecret, from: string | null): Promise<void> {
      if (!isDue(used)) return;
      const { key, hash } = used;
      const usedAt = clock.now();
      shared.set(hash, true);
      const kept = { ttlMs: 2 * useNotedEveryMs };
      const value = from === null ? String(usedAt) : `${usedAt} ${from}`;
      await coordination.set(usedName(used), value, kept).catch(unlessAway);
      const last = storedUse(used).at ?? 0;
      if (noted.has(hash) || usedAt - last < useNotedEveryMs) return;
      noted.set(hash, true);
      const ref = refOf(key.environmentUid, key.id);
      await control.enqueue(ref, { type: 'ObserveUse', usedAt, from, hash }, { actor: 'system' });
    },
    async lastUse(used: UsedSecret): Promise<LastUse> {
      const value = await coordination.get(usedName(used)).catch(unlessAway);
      const [at = '', from = null] = value?.split(' ') ?? [];
      const stored = storedUse(used);
      return Number(at) > (stored.at ?? 0) ? { at: Number(at), from } : stored;
    },
  };
}

/** The last use in the log. */
function storedUse({ key, hash }: UsedSecret): LastUse {
  const secret = hash === key.previous?.hash ? key.previous : key;
  return { at: secret.lastUsedAt, from: secret.lastUsedFrom ?? null };
}

function unlessAway(error: unknown): null {
  if (error instanceof GatewayError && error.code === 'coordination_unavailable') return null;
  throw error;
}

const usedName = ({ key, hash }: UsedSecret): string => `key-used/${key.id}/${hash}`;

const hashOf = (vault: Vault, secret: string): string => vault.fingerprint('api-key', secret);

const channel = 'keys-revoked';

/** Keys and secrets that ended on any node, before this node's view has applied their end. */
export interface Revocations extends AsyncDisposable {
  /** @param name the id of a key or a session of the console, or the keyed hash of a secret */
  has(name: string): boolean;
}

/** Subscribes to deletions. */
export async function openRevocations(coordination: Coordination): Promise<Revocations> {
  const revoked = new LRUCache<string, true>({ max: rememberedMax });
  const subscription = await coordination.subscribe(channel, (name) => {
    revoked.set(name, true);
  });
  return {
    has: (name) => revoked.has(name),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}

/**
 * Notifies every node.
 * @throws GatewayError `coordination_unavailable`: nodes learn it only from the log
 */
export const notifyRevoked = (coordination: Coordination, name: string): Promise<void> =>
  coordination.publish(channel, name);

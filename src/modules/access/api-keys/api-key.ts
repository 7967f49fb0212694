import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis, type Instant } from '#kernel/time.ts';

/**
 * Environment keys: kind `api-key`, scope = environment uid, path [environment uid, id].
 * Account keys: kind `account-key`, scope `account`, path [id].
 * Index `hash` = keyed hash of the secret, `previousHash` of the one before.
 */
export interface ApiKey {
  readonly id: string;
  readonly environmentUid: string | null;
  readonly displayName: string;
  readonly scopes: readonly string[];
  readonly hash: string;
  /** For "reveal". */
  readonly secret: Sealed<string>;
  readonly lastFour: string;
  readonly createdAt: Instant;
  /** Updated at most once an hour. */
  readonly lastUsedAt: Instant | null;
  /** The network of that use. */
  readonly lastUsedFrom?: string | null;
  /** From when on the key is refused; absent or null: never. */
  readonly expiresAt?: Instant | null;
  /** The secret that the last rotation replaced; it stays here after its end. */
  readonly previous?: PreviousSecret;
}

export interface PreviousSecret {
  readonly hash: string;
  readonly lastFour: string;
  /** From when on it is refused. */
  readonly validUntil: Instant;
  readonly lastUsedAt: Instant | null;
  readonly lastUsedFrom: string | null;
}

/** A secret with which requests come. */
export interface KeySecret {
  readonly hash: string;
  readonly secret: Sealed<string>;
  readonly lastFour: string;
}

interface KeyUse {
  readonly usedAt: Instant;
  /** The network of the request. */
  readonly from?: string | null | undefined;
}

/** Whether the key is refused at the time, whatever the secret. */
export const isExpired = ({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: Instant): boolean =>
  expiresAt != null && now >= expiresAt;

/** The replaced secret while requests may still have it. */
export function previousSecret(
  { previous }: Pick<ApiKey, 'previous'>,
  now: Instant,
): PreviousSecret | null {
  return previous !== undefined && now < previous.validUntil ? previous : null;
}

export type ApiKeyEvent =
  | { readonly type: 'KeyCreated'; readonly key: ApiKey }
  | ({
      readonly type: 'KeyUsed';
      /** With the secret that a rotation replaced. */
      readonly isPrevious?: true;
    } & KeyUse)
  | {
      readonly type: 'KeyRotated';
      readonly secret: KeySecret;
      readonly previous: PreviousSecret;
      readonly expiresAt: Instant | null;
    }
  | { readonly type: 'PreviousSecretEnded'; readonly at: Instant }
  | { readonly type: 'KeyDeleted' };

/** Facts that the owner adds: `at`, the number of keys of the scope, and whether one has the name. */
export type CreateKey = {
  readonly type: 'Create';
  readonly at: Instant;
  readonly isNameTaken: boolean;
  readonly keysInScope: number;
} & Omit<ApiKey, 'createdAt' | 'lastUsedAt' | 'lastUsedFrom' | 'previous'>;

export interface RotateKey extends KeySecret {
  readonly type: 'Rotate';
  readonly at: Instant;
  /** How long the secret before stays valid. */
  readonly overlapMs: number;
  /** Null: never; absent: as before. */
  readonly expiresAt?: Instant | null | undefined;
}

/** `hash` is that of the secret of the request; absent: the present one. */
export type ObserveKeyUse = {
  readonly type: 'ObserveUse';
  readonly at: Instant;
  readonly hash?: string | undefined;
} & KeyUse;

export type ApiKeyCommand =
  | CreateKey
  | RotateKey
  | { readonly type: 'EndPreviousSecret'; readonly at: Instant }
  | ObserveKeyUse
  | { readonly type: 'Delete'; readonly at: Instant };

export const apiKey: Decider<ApiKey | null, ApiKeyCommand, ApiKeyEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Create':
        return created(command, state);
      case 'ObserveUse':
        // The use of a key that was deleted concurrently does not recreate it.
        return state === null ? [] : used(command, state);
      case 'Rotate':
        return rotated(command, existing(state));
      case 'EndPreviousSecret':
        return ended(command.at, existing(state));
      case 'Delete':
        existing(state);
        return [{ type: 'KeyDeleted' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'KeyCreated') return event.key;
    if (state === null || event.type === 'KeyDeleted') return null;
    switch (event.type) {
      case 'KeyUsed':
        return afterUse(state, event);
      case 'KeyRotated': {
        const { secret, previous, expiresAt } = event;
        return { ...state, ...secret, previous, expiresAt, lastUsedAt: null, lastUsedFrom: null };
      }
      case 'PreviousSecretEnded': {
        if (state.previous === undefined) return state;
        return { ...state, previous: { ...state.previous, validUntil: event.at } };
      }
    }
  },
};

/** @throws GatewayError `not_found` */
function existing(state: ApiKey | null): ApiKey {
  if (state !== null) return state;
  throw new GatewayError('not_found', { message: 'The API key does not exist.' });
}

function created(command: CreateKey, state: ApiKey | null): ApiKeyEvent[] {
  const { id, environmentUid, displayName, scopes, hash, secret, lastFour, at } = command;
  const expiresAt = command.expiresAt ?? null;
  if (state !== null || command.isNameTaken) {
    throw new GatewayError('conflict', { message: `A key named "${displayName}" already exists.` });
  }
  if (command.keysInScope >= limits.environmentKeysMax) {
    const message = `The limit of ${limits.environmentKeysMax} keys is reached; delete one first.`;
    throw new GatewayError('resource_capped', { message });
  }
  requireFuture(expiresAt, at);
  const key = { id, environmentUid, displayName, scopes, hash, secret, lastFour, expiresAt };
  return [{ type: 'KeyCreated', key: { ...key, createdAt: at, lastUsedAt: null } }];
}

/** @throws GatewayError `invalid_body` */
function requireFuture(expiresAt: Instant | null, at: Instant): void {
  if (expiresAt === null || expiresAt > at) return;
  const message = 'The time is in the past.';
  throw new GatewayError('invalid_body', {
    errors: [{ code: 'custom', message, path: ['expires_at'] }],
  });
}

function rotated(command: RotateKey, state: ApiKey): ApiKeyEvent[] {
  const { hash, secret, lastFour, overlapMs, at } = command;
  const before = state.expiresAt ?? null;
  if (command.expiresAt !== undefined) requireFuture(command.expiresAt, at);
  const expiresAt = command.expiresAt === undefined ? before : command.expiresAt;
  if (isExpired({ expiresAt }, at)) {
    const message = `The API key "${state.displayName}" has expired; send another expires_at.`;
    throw new GatewayError('conflict', { message });
  }
  const last = previousSecret(state, at);
  // Two secrets are valid at a time: a third would end one that is still in use somewhere.
  if (last !== null && overlapMs > 0) {
    const message = `The secret before is valid until ${isoMillis(last.validUntil)}; end it first, or rotate with an overlap of 0.`;
    throw new GatewayError('conflict', { message });
  }
  const previous: PreviousSecret = {
    hash: state.hash,
    lastFour: state.lastFour,
    validUntil: Math.min(at + overlapMs, before ?? Infinity),
    lastUsedAt: state.lastUsedAt,
    lastUsedFrom: state.lastUsedFrom ?? null,
  };
  return [{ type: 'KeyRotated', secret: { hash, secret, lastFour }, previous, expiresAt }];
}

function ended(at: Instant, state: ApiKey): ApiKeyEvent[] {
  if (previousSecret(state, at) !== null) return [{ type: 'PreviousSecretEnded', at }];
  const message = `The API key "${state.displayName}" has no earlier secret that is valid.`;
  throw new GatewayError('not_found', { message });
}

function used({ usedAt, from = null, hash }: ObserveKeyUse, state: ApiKey): ApiKeyEvent[] {
  const isPrevious = hash !== undefined && hash === state.previous?.hash;
  if (hash !== undefined && hash !== state.hash && !isPrevious) return [];
  const last = isPrevious ? state.previous.lastUsedAt : state.lastUsedAt;
  if ((last ?? 0) >= usedAt) return [];
  const use = { type: 'KeyUsed', usedAt, from } as const;
  return [isPrevious ? { ...use, isPrevious: true } : use];
}

function afterUse(
  state: ApiKey,
  { usedAt, from = null, isPrevious }: Extract<ApiKeyEvent, { type: 'KeyUsed' }>,
): ApiKey {
  const use = { lastUsedAt: usedAt, lastUsedFrom: from };
  if (isPrevious !== true) return { ...state, ...use };
  return state.previous === undefined
    ? state
    : { ...state, previous: { ...state.previous, ...use } };
}

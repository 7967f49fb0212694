import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/**
 * Environment keys: kind `api-key`, scope = environment uid, path [environment uid, id].
 * Account keys: kind `account-key`, scope `account`, path [id].
 * Index `hash` = keyed hash of the secret.
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
}

export type ApiKeyEvent =
  | { readonly type: 'KeyCreated'; readonly key: ApiKey }
  | { readonly type: 'KeyUsed'; readonly usedAt: Instant }
  | { readonly type: 'KeyDeleted' };

/** Facts that the owner adds: `at`, the number of keys of the scope, and whether one has the name. */
export type CreateKey = {
  readonly type: 'Create';
  readonly at: Instant;
  readonly isNameTaken: boolean;
  readonly keysInScope: number;
} & Omit<ApiKey, 'createdAt' | 'lastUsedAt'>;

export type ApiKeyCommand =
  | CreateKey
  | { readonly type: 'ObserveUse'; readonly usedAt: Instant; readonly at: Instant }
  | { readonly type: 'Delete'; readonly at: Instant };

export const apiKey: Decider<ApiKey | null, ApiKeyCommand, ApiKeyEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Create':
        return created(command, state);
      case 'ObserveUse':
        // The use of a key that was deleted concurrently does not recreate it.
        if (state === null || (state.lastUsedAt ?? 0) >= command.usedAt) return [];
        return [{ type: 'KeyUsed', usedAt: command.usedAt }];
      case 'Delete':
        if (state === null)
          throw new GatewayError('not_found', { message: 'The API key does not exist.' });
        return [{ type: 'KeyDeleted' }];
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'KeyCreated':
        return event.key;
      case 'KeyUsed':
        return state === null ? null : { ...state, lastUsedAt: event.usedAt };
      case 'KeyDeleted':
        return null;
    }
  },
};

function created(command: CreateKey, state: ApiKey | null): ApiKeyEvent[] {
  const { id, environmentUid, displayName, scopes, hash, secret, lastFour, at } = command;
  if (state !== null || command.isNameTaken) {
    throw new GatewayError('conflict', { message: `A key named "${displayName}" already exists.` });
  }
  if (command.keysInScope >= limits.environmentKeysMax) {
    const message = `The limit of ${limits.environmentKeysMax} keys is reached; delete one first.`;
    throw new GatewayError('resource_capped', { message });
  }
  const key = { id, environmentUid, displayName, scopes, hash, secret, lastFour };
  return [{ type: 'KeyCreated', key: { ...key, createdAt: at, lastUsedAt: null } }];
}

import type { EntityDefinition, EntityRef, Siblings } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import { dayMs, isoMillisOrNull } from '#kernel/time.ts';
import {
  apiKey,
  type ApiKeyCommand,
  type CreateKey,
  type ApiKeyEvent,
  type ApiKey,
} from './api-key.ts';

/** The types of keys: those of an environment and those of the account have the same. */
export interface KeyEntity {
  readonly kind: 'api-key' | 'account-key';
  readonly state: ApiKey;
  readonly command: ApiKeyCommand;
  readonly event: ApiKeyEvent;
  readonly topic: 'svc.config.v1';
  readonly facts: Pick<CreateKey, 'isNameTaken' | 'keysInScope'>;
  readonly index: 'hash' | 'previousHash';
}

export const apiKeyRef = (environmentUid: string, id: string): EntityRef<KeyEntity> => ({
  kind: 'api-key',
  scope: environmentUid,
  path: [environmentUid, id],
});

export const accountKeyRef = (id: string): EntityRef<KeyEntity> => ({
  kind: 'account-key',
  scope: 'account',
  path: [id],
});

const actions = {
  KeyCreated: 'created',
  KeyUsed: 'used',
  KeyRotated: 'rotated',
  PreviousSecretEnded: 'previous_secret_ended',
  KeyDeleted: 'deleted',
} as const;

const indexes = {
  hash: ({ hash }: ApiKey) => hash,
  previousHash: ({ previous }: ApiKey) => previous?.hash ?? null,
} as const;

const publishKey = publishConfig<ApiKey, ApiKeyEvent>('api_key', actions, (key) => {
  const day = key.lastUsedAt === null ? null : Math.floor(key.lastUsedAt / dayMs) * dayMs;
  return {
    id: [key.id],
    environmentUid: key.environmentUid ?? 'account',
    document: {
      id: key.id,
      name: key.displayName,
      scopes: key.scopes,
      prefix: key.environmentUid === null ? 'svc_acct_' : 'svc_env_',
      last_used_day: day === null ? null : new Date(day).toISOString().slice(0, 10),
      expires_at: isoMillisOrNull(key.expiresAt ?? null),
      previous_secret_valid_until: isoMillisOrNull(key.previous?.validUntil ?? null),
    },
  };
});

export const apiKeyEntity: EntityDefinition<KeyEntity> = {
  kind: 'api-key',
  indexes,
  decider: apiKey,
  facts: (command, ref, siblings) => keyFacts(command, siblings, ref),
  publishes: { 'svc.config.v1': true },
  publish: publishKey,
};

export const accountKeyEntity: EntityDefinition<KeyEntity> = {
  kind: 'account-key',
  indexes,
  decider: apiKey,
  facts: (command, ref, siblings) => keyFacts(command, siblings, ref),
  publishes: { 'svc.config.v1': true },
  publish: publishKey,
};

function keyFacts(
  command: Parameters<(typeof apiKeyEntity)['facts']>[0],
  siblings: Siblings,
  ref: EntityRef<KeyEntity>,
) {
  if (command.type !== 'Create') return {};
  const keys = siblings.list(ref, ref.path.slice(0, -1));
  const isNameTaken = keys.some((key) => key.displayName === command.displayName);
  return { isNameTaken, keysInScope: keys.length };
}

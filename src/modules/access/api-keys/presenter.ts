import { isoMillis, type Instant } from '../../../kernel/time.ts';
import type { ApiKey } from './state.ts';

/** A key in a list, with its secret masked except for the last four characters. */
export function presentKey(key: ApiKey, lastUsedAt: Instant | null) {
  return {
    id: key.id,
    display_name: key.displayName,
    scopes: key.scopes,
    secret: `****${key.lastFour}`,
    last_used_at: lastUsedAt === null ? null : isoMillis(lastUsedAt),
    created_at: isoMillis(key.createdAt),
  };
}

/** A key with its secret in clear: on creation and when it is revealed. */
export function presentSecretKey(key: ApiKey, secret: string) {
  const { id, displayName, scopes, createdAt } = key;
  return { id, display_name: displayName, scopes, secret, created_at: isoMillis(createdAt) };
}

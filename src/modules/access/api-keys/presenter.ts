import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMillis, type Instant } from '../../../kernel/time.ts';
import type { ApiKey } from './state.ts';

const named = {
  id: z.uuid(),
  display_name: z.string().meta({ examples: ['Backend'] }),
  scopes: z.array(z.string().meta({ examples: ['environment:records:read'] })),
};

export const keysShape = data(
  z.array(
    z
      .strictObject({
        ...named,
        secret: z.string().meta({ examples: ['****a1B2'] }),
        last_used_at: timestamp.nullable(),
        created_at: timestamp,
      })
      .meta({ id: 'ApiKey' }),
  ),
);

/** With its secret in clear. */
export const secretKeyShape = data(
  z
    .strictObject({
      ...named,
      secret: z.string().meta({ examples: ['svc_env_…'] }),
      created_at: timestamp,
    })
    .meta({ id: 'ApiKeyWithSecret' }),
);

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

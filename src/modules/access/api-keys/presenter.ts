import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMillis, isoMillisOrNull, type Instant } from '#kernel/time.ts';
import type { ApiKey } from './api-key.ts';

const scope = z.string().meta({ examples: ['environment:records:read'] });
const keyFields = {
  id: z.uuid().describe('Id of the key.'),
  display_name: z.string().meta({ examples: ['Backend'] }),
  scopes: z.array(scope),
} as const;
const created_at = [timestamp, ({ createdAt }: ApiKey) => isoMillis(createdAt)] as const;

const masked = representation<ApiKey & { readonly lastUsedAt: Instant | null }>()({
  ...keyFields,
  secret: [z.string().meta({ examples: ['****a1B2'] }), ({ lastFour }) => `****${lastFour}`],
  last_used_at: [timestamp.nullable(), ({ lastUsedAt }) => isoMillisOrNull(lastUsedAt)],
  created_at,
});

const inClear = representation<ApiKey & { readonly opened: string }>()({
  ...keyFields,
  secret: [z.string().meta({ examples: ['svc_env_…'] }), ({ opened }) => opened],
  created_at,
});

export const keysShape = data(z.array(masked.schema.meta({ id: 'ApiKey' })));

/** With its secret in clear. */
export const secretKeyShape = data(inClear.schema.meta({ id: 'ApiKeyWithSecret' }));

/** A key in a list, with its secret masked except for the last four characters. */
export const presentKey = (key: ApiKey, lastUsedAt: Instant | null) =>
  masked.of({ ...key, lastUsedAt });

/** A key with its secret in clear: on creation and when it is revealed. */
export const presentSecretKey = (key: ApiKey, opened: string) => inClear.of({ ...key, opened });

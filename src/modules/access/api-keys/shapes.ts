import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';

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

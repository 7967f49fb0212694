import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';

export const rootKeysShape = data(
  z
    .strictObject({
      sealing: z.string(),
      root_keys: z.array(
        z.strictObject({
          id: z.string(),
          known: z.boolean(),
          data_keys: z.int(),
          removable: z.boolean(),
        }),
      ),
      rewrap: z
        .strictObject({
          id: z.string(),
          root_key: z.string(),
          state: z.enum(['running', 'ended']),
          total: z.int(),
          done: z.int(),
          by: z.string(),
          ordered_at: timestamp,
          ended_at: timestamp.nullable(),
        })
        .nullable(),
    })
    .meta({ id: 'RootKeys' }),
);

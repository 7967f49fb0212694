import { z } from 'zod';
import { data, moment } from '../../http/answers.ts';

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
          ordered_at: moment,
          ended_at: moment.nullable(),
        })
        .nullable(),
    })
    .meta({ id: 'RootKeys' }),
);

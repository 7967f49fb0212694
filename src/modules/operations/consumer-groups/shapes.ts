import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';

const reset = z.strictObject({
  id: z.string(),
  from: z.int(),
  to: z.int(),
  repeat: z.boolean(),
  by: z.string(),
  asked_at: timestamp,
  applied_at: timestamp.nullable(),
});

const groupShape = z
  .strictObject({
    name: z.string(),
    topic: z.string(),
    why: z.string(),
    resettable: z.boolean(),
    can_repeat: z.boolean(),
    replay: z.string(),
    lag: z.int(),
    partitions: z.array(
      z.strictObject({
        partition: z.int(),
        start: z.int(),
        committed: z.int().nullable(),
        end: z.int(),
        lag: z.int(),
        reset: reset.nullable(),
      }),
    ),
  })
  .meta({ id: 'ConsumerGroup' });

export const oneGroupShape = data(groupShape);
export const groupsShape = data(z.array(groupShape));

/** The moves of a reset; with `dry_run` those it would make. */
export const resetShape = data(
  z
    .strictObject({
      dry_run: z.boolean(),
      id: z.string().optional(),
      replayed: z.int(),
      skipped: z.int(),
      partitions: z.array(
        z.strictObject({
          partition: z.int(),
          from: z.int(),
          to: z.int(),
          replayed: z.int(),
          skipped: z.int(),
          state: z.enum(['applied', 'waiting']).optional(),
        }),
      ),
    })
    .meta({ id: 'ConsumerGroupReset' }),
);

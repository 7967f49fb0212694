import { z } from 'zod';
import { moment } from '../../http/answers.ts';

/** ISO 8601 with microseconds and offset (spec section 2.7). */
const micros = moment.meta({ examples: ['2026-02-01T08:00:00.000000+00:00'] });

const metadataShape = z
  .strictObject({
    first_seen_at: micros,
    last_modified_at: micros,
    last_action: z.enum(['ADDED', 'UPDATED', 'DELETED']),
    deleted_at: micros.nullable(),
    pruned_at: micros.optional(),
    cursor: z.string(),
  })
  .meta({ id: 'RecordMetadata' });

/** The fields of the model, and how the record stands. */
export const recordShape = z
  .looseObject({
    id: z.string().meta({ examples: ['c-1'] }),
    _svc_metadata: metadataShape,
  })
  .meta({ id: 'Record' });

export const pageShape = z.strictObject({
  records: z.array(recordShape),
  next_cursor: z.string().nullable().meta({ description: 'Null: there is no more for now.' }),
});

export const prunedShape = z.strictObject({ count: z.int(), has_more: z.boolean() });

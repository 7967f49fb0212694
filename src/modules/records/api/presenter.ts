import { z } from 'zod';
import { timestamp } from '#http/responses.ts';

/** ISO 8601 with microseconds and offset. */
const micros = timestamp.meta({ examples: ['2026-02-01T08:00:00.000000+00:00'] });

const metadataShape = z
  .strictObject({
    first_seen_at: micros,
    last_modified_at: micros,
    last_action: z
      .enum(['ADDED', 'UPDATED', 'DELETED'])
      .describe('Last modification of the record.'),
    deleted_at: micros.nullable(),
    pruned_at: micros.optional(),
    cursor: z.string().describe('Position after this record.'),
  })
  .meta({ id: 'RecordMetadata' });

/** The fields of the model, and the record's metadata. */
export const recordShape = z
  .looseObject({
    id: z
      .string()
      .meta({ description: 'Id of the record, which the function saved.', examples: ['c-1'] }),
    _svc_metadata: metadataShape.describe('Times, state and cursor of the record.'),
  })
  .meta({ id: 'Record' });

export const pageShape = z.strictObject({
  records: z.array(recordShape).describe('The records of the page.'),
  next_cursor: z.string().nullable().meta({ description: 'Null: there is no more for now.' }),
});

export const prunedShape = z.strictObject({
  count: z.int().describe('Number of records that lost their payload.'),
  has_more: z.boolean(),
});

const changeShape = z
  .strictObject({
    action: z
      .enum(['added', 'updated', 'deleted', 'pruned', 'restored'])
      .describe('What the change did.'),
    at: micros,
    version: z
      .int()
      .nullable()
      .meta({ description: 'The number of the change in the life of the record.' }),
    cursor: z
      .string()
      .nullable()
      .describe('Cursor after the change; null where the log no longer has it.'),
    actor: z
      .string()
      .nullable()
      .meta({ examples: ['run:0192f0c1-7a3b-7c4d-8e5f-001122334455'] }),
    run_id: z.string().nullable(),
    sync: z
      .string()
      .nullable()
      .describe('Sync whose run wrote the change; null for other writers.'),
    first_seen_at: micros.nullable(),
    last_modified_at: micros,
    deleted_at: micros.nullable(),
    pruned_at: micros.nullable(),
    payload_state: z
      .enum(['kept', 'none', 'pruned', 'compacted', 'unreadable'])
      .describe('What is left of the payload of the change.'),
    payload: z
      .looseObject({})
      .nullable()
      .meta({ description: 'The record as the change left it.' }),
  })
  .meta({ id: 'RecordChange' });

export const historyShape = z.strictObject({
  id: z.string().describe('Id of the record.'),
  changes: z.array(changeShape).describe('The changes, newest first.'),
  next_cursor: z.string().nullable().meta({ description: 'Null: these are all.' }),
  earlier_changes: z.int().nullable().meta({
    description: 'Of the last page: how many changes before these have left the log.',
  }),
});

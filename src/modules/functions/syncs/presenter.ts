import { z } from 'zod';
import { timestamp } from '../../../http/responses.ts';
import { jsonObject } from '../../../http/fields.ts';

const counts = z.strictObject({ added: z.int(), updated: z.int(), deleted: z.int() });
const models = <S extends z.ZodType>(ref: S) => z.record(z.string(), ref);

const statusShape = z
  .strictObject({
    id: z.string(),
    name: z.string().meta({ examples: ['contacts'] }),
    variant: z.string().meta({ examples: ['base'] }),
    connection_id: z
      .string()
      .nullable()
      .meta({
        description:
          'Null where the request names no connection and the key lacks environment:connections:list.',
        examples: ['acme-1'],
      }),
    type: z.enum(['INITIAL', 'INCREMENTAL']),
    status: z.enum(['RUNNING', 'PAUSED', 'ERROR', 'SUCCESS', 'STOPPED']),
    latestExecutionStatus: z.enum(['RUNNING', 'SUCCESS', 'STOPPED', 'ERROR']).nullable(),
    frequency: z.string().meta({ examples: ['1h'] }),
    finishedAt: timestamp.optional(),
    latestResult: models(counts).optional(),
    nextScheduledSyncAt: timestamp.nullable(),
    records_readable: z.boolean().nullable().meta({
      description:
        'Whether everything that the last run changed can be read; the answer waits for it for up to two seconds. Null where that run ended without a report of what it changed: most runs that were cancelled, interrupted or timed out.',
    }),
    recordCount: models(z.int()),
    checkpoint: jsonObject.nullable(),
  })
  .meta({ id: 'SyncStatus' });

export const statusesShape = z.strictObject({ syncs: z.array(statusShape) });

export const frequencyShape = z.strictObject({
  frequency: z.string().meta({ examples: ['1h'] }),
});

export const variantShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  variant: z.string(),
});

import { z } from 'zod';
import { timestamp } from '../../../http/responses.ts';
import { jsonObject } from '../../../http/fields.ts';

const counts = z.strictObject({ added: z.int(), updated: z.int(), deleted: z.int() });
const models = <S extends z.ZodType>(ref: S) => z.record(z.string(), ref);

const statusShape = z
  .strictObject({
    id: z.string().describe('Id of the sync of the connection.'),
    name: z.string().meta({ description: 'Name of the sync.', examples: ['contacts'] }),
    variant: z.string().meta({ examples: ['base'] }),
    connection_id: z
      .string()
      .nullable()
      .meta({
        description:
          'Null where the request names no connection and the key lacks environment:connections:list.',
        examples: ['acme-1'],
      }),
    type: z.enum(['INITIAL', 'INCREMENTAL']).describe('`INITIAL` until a run has succeeded.'),
    status: z
      .enum(['RUNNING', 'PAUSED', 'ERROR', 'SUCCESS', 'STOPPED'])
      .describe('State of the sync: of its schedule, or of its run.'),
    latestExecutionStatus: z
      .enum(['RUNNING', 'SUCCESS', 'STOPPED', 'ERROR'])
      .nullable()
      .describe('Outcome of the last run; null before the first.'),
    frequency: z.string().meta({ examples: ['1h'] }),
    finishedAt: timestamp
      .optional()
      .describe('Time of the end of the last run (RFC 3339); absent before the first.'),
    latestResult: models(counts).optional().describe('Changes of the last run, by model.'),
    nextScheduledSyncAt: timestamp
      .nullable()
      .describe('Time of the next run (RFC 3339); null without a schedule.'),
    records_readable: z.boolean().nullable().meta({
      description:
        'Whether everything that the last run changed can be read; the answer waits for it for up to two seconds. Null where that run ended without a report of what it changed: most runs that were cancelled, interrupted or timed out.',
    }),
    recordCount: models(z.int()).describe('Number of records, by model.'),
    checkpoint: jsonObject
      .nullable()
      .describe('Checkpoint that the next run starts with; null without one.'),
  })
  .meta({ id: 'SyncStatus' });

export const statusesShape = z.strictObject({ syncs: z.array(statusShape).describe('The syncs.') });

export const frequencyShape = z.strictObject({
  frequency: z.string().meta({ examples: ['1h'] }),
});

export const variantShape = z.strictObject({
  id: z.string().describe('Id of the sync of the connection.'),
  name: z.string().describe('Name of the sync.'),
  variant: z.string(),
});

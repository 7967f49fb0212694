import { z } from 'zod';
import { anyJson, data, timestamp } from '../../../http/responses.ts';

const counts = z.strictObject({
  added: z.int(),
  updated: z.int(),
  deleted: z.int(),
  unchanged: z.int(),
});

const run = {
  id: z.string(),
  kind: z.string().meta({ examples: ['sync'] }),
  function: z.string(),
  function_version: z.string(),
  provider_config_key: z.string(),
  connection_id: z.string(),
  variant: z.string(),
  models: z.array(z.string()),
  trigger: z
    .string()
    .nullable()
    .meta({ examples: ['schedule'] }),
  status: z.string().meta({ examples: ['succeeded'] }),
  attempt: z.int(),
  queued_at: timestamp,
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
  duration_ms: z.int().nullable(),
  counts: z.record(z.string(), counts),
  checkpoint_from: anyJson,
  checkpoint_to: anyJson,
  records_readable: z.boolean().nullable().meta({
    description:
      'Whether everything that the run changed can be read. Null until it ends, and where it ended without a report of what it changed: most runs that were cancelled, interrupted or timed out.',
  }),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  log_id: z.string(),
};

const entry = z.strictObject({
  at: timestamp,
  attempt: z.int(),
  what: z.string().meta({ examples: ['request'] }),
  method: z.string().optional(),
  path: z.string().optional(),
  status: z.int().optional(),
  duration_ms: z.int().optional(),
  model: z.string().optional(),
  count: z.int().optional(),
  level: z.string().optional(),
  message: z.string().optional(),
});

const runShape = z.strictObject(run).meta({ id: 'Run' });

export const runsShape = z.strictObject({
  data: z.array(runShape),
  pagination: z.strictObject({ cursor: z.string().nullable() }),
});

export const oneRunShape = data(z.strictObject({ ...run, timeline: z.array(entry) }));

const revertCounts = z.strictObject({
  deleted: z.int(),
  updated: z.int(),
  restored: z.int(),
  unchanged: z.int().meta({ description: 'They are as they were before the run.' }),
  left: z.int().meta({ description: 'They are left alone.' }),
});

export const revertedShape = data(
  z.strictObject({
    run_id: z.string(),
    revert_run_id: z
      .string()
      .nullable()
      .meta({ description: 'The run that the changes carry; null of a dry run.' }),
    dry_run: z.boolean(),
    counts: z.record(z.string(), revertCounts).meta({ description: 'By model.' }),
    left: z
      .array(
        z.strictObject({
          model: z.string(),
          id: z.string(),
          reason: z.enum(['changed_since', 'former_pruned', 'former_gone', 'purged']),
          actor: z.string().nullable(),
          run_id: z.string().nullable(),
        }),
      )
      .meta({ description: 'The first 1,000 that are left alone, and who changed them since.' }),
  }),
);

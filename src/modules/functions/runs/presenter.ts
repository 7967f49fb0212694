import { z } from 'zod';
import { anyJson, data, timestamp } from '../../../http/responses.ts';
import type { RunStepShown } from './projection.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';
import { isoMicros } from '../../../kernel/time.ts';
import { changesEnd, type ChangesEnd } from '../../records/readable.ts';
import { isEnd, type TimelineEntry } from './events.ts';
import type { StepRow } from './queries.ts';

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

const stepOf = (row: StepRow): RunStepShown => JSON.parse(row.step) as RunStepShown;
const timeOf = (row: StepRow | undefined): string | null =>
  row === undefined ? null : isoMicros(Number(row.at));

/** End position of the changes of the run; null while it is running. */
export function changesEndOf(rows: readonly [StepRow, ...StepRow[]]): ChangesEnd {
  const last = lastOf(rows);
  const { action: status, log_partition: partition, log_offset: offset } = last;
  if (!isEnd(status)) return null;
  const { models, positions } = stepOf(last);
  if (positions !== undefined) return changesEnd({ status, models, positions });
  return status === 'succeeded' ? { reportedAt: { partition, offset: Number(offset) } } : null;
}

const lastOf = (rows: readonly [StepRow, ...StepRow[]]): StepRow =>
  rows.findLast(({ action }) => action !== 'progress') ?? rows[0];

export const hasEnded = (rows: readonly [StepRow, ...StepRow[]]): boolean =>
  isEnd(lastOf(rows).action);

/** A run in the format of the API, without `records_readable`. `rows`: its steps in order; at least one. */
export function presentRun(rows: readonly [StepRow, ...StepRow[]]): JsonObject {
  const life = rows.filter(({ action }) => action !== 'progress');
  const [first] = rows;
  const last = lastOf(rows);
  const { error_code: code, error_message: message, ...step } = stepOf(last);
  const ended = isEnd(last.action);
  return {
    id: first.run_id,
    kind: first.kind,
    function: first.function,
    function_version: step.function_version,
    provider_config_key: first.integration,
    connection_id: first.connection_id,
    variant: first.variant,
    models: step.models,
    trigger: step.trigger,
    status: last.action === 'started' ? 'running' : last.action,
    attempt: last.attempt,
    queued_at: timeOf(life[0] ?? first),
    started_at: timeOf(life.find(({ action }) => action === 'started')),
    ended_at: ended ? timeOf(last) : null,
    duration_ms: step.duration_ms,
    counts: Object.fromEntries(step.counts.map(({ model, ...counts }) => [model, counts])),
    checkpoint_from: jsonOf(step.checkpoint_from),
    checkpoint_to: jsonOf(step.checkpoint_to),
    error: code === null ? null : { code, message: message ?? '' },
    log_id: step.log_id,
  };
}

/** The timeline of the run: its steps, and the entries of its attempts. */
export function presentTimeline(rows: readonly StepRow[]): JsonObject[] {
  const steps = rows
    .filter(({ action }) => action !== 'progress')
    .map(({ at, action, attempt }) => ({ at: Number(at), shown: { what: action, attempt } }));
  const notes = rows.flatMap((row) =>
    stepOf(row).timeline.map((entry) => ({
      at: entry.at,
      shown: { ...messageOf(entry), attempt: row.attempt },
    })),
  );
  return [...steps, ...notes]
    .sort((a, b) => a.at - b.at)
    .map(({ at, shown }) => ({ at: isoMicros(at), ...shown }));
}

/** Without fields that do not apply. */
function messageOf({ at: _, what, ...facts }: TimelineEntry) {
  return {
    what,
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)),
  };
}

const jsonOf = (text: string | null): JsonObject | null =>
  text === null ? null : (JSON.parse(text) as JsonObject);

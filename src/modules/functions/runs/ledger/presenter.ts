import { z } from 'zod';
import { failureShape } from '#http/failure-shape.ts';
import { representation } from '#http/representation.ts';
import { anyJson, data, timestamp } from '#http/responses.ts';
import { errorHints } from '#kernel/error-hints.ts';
import type { ErrorCode } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { isoMicros } from '#kernel/time.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import { changesEnd, type ChangesEnd } from '#modules/records/read/readable.ts';
import { locationOf, type FailureDetail } from '#rules/failure-detail.ts';
import { isEnd, type RunChanged, type TimelineEntry } from './events.ts';
import { runs, shownStep, type RunStepShown } from './projection.ts';
import type { StepRow } from './queries.ts';

/** The status of a run after its last action. */
export function statusOf(action: string): string {
  if (action === 'started') return 'running';
  return action === 'admitted' ? 'queued' : action;
}

const counts = z.strictObject({
  added: z.int(),
  updated: z.int(),
  deleted: z.int(),
  unchanged: z.int(),
});

type Step = Omit<StepRow, 'log_partition' | 'log_offset' | 'step'>;

/** The steps of a run that its representation shows. */
interface RunSteps {
  readonly queued: Step;
  readonly started: Step | undefined;
  readonly last: Step;
  /** Body of the last step. */
  readonly step: RunStepShown;
  readonly isReadable: boolean | null;
  readonly wait: RunWait | null;
}

/** What a queued run waits for. */
export interface RunWait {
  readonly concurrency: number;
  /** From 1. */
  readonly position: number;
}

const run = representation<RunSteps>()({
  id: [z.string().describe('Id of the run.'), ({ last }) => last.run_id],
  kind: [
    z.string().meta({ description: 'Kind of the run.', examples: ['sync'] }),
    ({ last }) => last.kind,
  ],
  function: [z.string().describe('Name of the function.'), ({ last }) => last.function],
  function_version: [
    z.string().describe('Version of the function.'),
    ({ step }) => step.function_version,
  ],
  provider_config_key: [z.string(), ({ last }) => last.integration],
  connection_id: [z.string(), ({ last }) => last.connection_id],
  variant: [z.string(), ({ last }) => last.variant],
  models: [z.array(z.string()), ({ step }) => step.models],
  trigger: [
    z
      .string()
      .nullable()
      .meta({
        description: 'What started the run; null where it is not recorded.',
        examples: ['schedule'],
      }),
    ({ step }) => step.trigger,
  ],
  status: [
    z.string().meta({ description: 'Status of the run.', examples: ['succeeded'] }),
    ({ last: { action } }) => statusOf(action),
  ],
  waiting: [
    z
      .strictObject({
        concurrency: z.int().describe('Runs of its function at the same time on its connection.'),
        position: z.int().describe('Its position among the runs that wait; the next one has 1.'),
      })
      .nullable()
      .describe('What a queued run waits for; null unless it is held by the concurrency.'),
    ({ wait }) => wait,
  ],
  attempt: [z.int(), ({ last }) => last.attempt],
  queued_at: [
    timestamp.describe('Time at which it was queued (RFC 3339).'),
    ({ queued }) => timeOf(queued),
  ],
  started_at: [timestamp.nullable(), ({ started }) => (started ? timeOf(started) : null)],
  ended_at: [timestamp.nullable(), ({ last }) => (isEnd(last.action) ? timeOf(last) : null)],
  duration_ms: [
    z.int().nullable().describe('Duration in milliseconds; null before the end.'),
    ({ step }) => step.duration_ms,
  ],
  counts: [
    z.record(z.string(), counts).describe('Changes of records, by model.'),
    ({ step }) => Object.fromEntries(step.counts.map(({ model, ...changed }) => [model, changed])),
  ],
  checkpoint_from: [
    anyJson.describe('Checkpoint at the start; null without one.'),
    ({ step }) => jsonOf(step.checkpoint_from),
  ],
  checkpoint_to: [
    anyJson.describe('Checkpoint at the end; null without one.'),
    ({ step }) => jsonOf(step.checkpoint_to),
  ],
  records_readable: [
    z.boolean().nullable().meta({
      description:
        'Whether everything that the run changed can be read. Null until it ends, and where it ended without a report of what it changed: most runs that were cancelled, interrupted or timed out.',
    }),
    ({ isReadable }) => isReadable,
  ],
  error: [
    z
      .strictObject({
        code: z.string(),
        message: z.string(),
        location: z
          .string()
          .nullable()
          .meta({ examples: ['crm/actions/create-contact.ts:12:5'] })
          .describe('File, line and column in the source of the function; null where not known.'),
        fix: z.string().describe('What to do about it.'),
      })
      .nullable()
      .describe('Why it failed; null if it did not.'),
    ({ step }) => errorOf(step),
  ],
  log_id: [z.string(), ({ step }) => step.log_id],
});

function errorOf({ error_code: code, error_message: message, failure }: RunStepShown) {
  if (code === null) return null;
  const location = failure === undefined ? null : locationOf(failure);
  const fix = Object.hasOwn(errorHints, code)
    ? errorHints[code as ErrorCode]
    : errorHints.server_error;
  return { code, message: message ?? '', location, fix };
}

const entry = z.strictObject({
  at: timestamp,
  attempt: z.int(),
  what: z.string().meta({ description: 'Kind of the entry.', examples: ['request'] }),
  method: z.string().optional(),
  path: z.string().optional().describe('Path of the request, without its query.'),
  status: z.int().optional().describe('Status of the HTTP response.'),
  duration_ms: z.int().optional(),
  model: z.string().optional(),
  count: z.int().optional(),
  level: z.string().optional(),
  message: z.string().optional(),
});

export const runsShape = z.strictObject({
  data: z.array(run.schema.meta({ id: 'Run' })),
  pagination: z.strictObject({
    cursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
  }),
});

const event = z.strictObject({
  topic: z.string().meta({ examples: ['svc.records.v1'] }),
  model: z.string().nullable().describe('Model of the records; null for steps of the run.'),
  partition: z.int(),
  first_offset: z
    .int()
    .nullable()
    .meta({ description: 'Null of changes of records, whose end alone a run reports.' }),
  last_offset: z.int().describe('Offset of the last message.'),
  count: z.int(),
});

export const oneRunShape = data(
  run.schema.extend({
    failure: failureShape
      .nullable()
      .describe('Where and why the code of the function failed; null where none of it failed.'),
    timeline: z.array(entry).describe('What the run did, in order.'),
    events: z.array(event).meta({
      description:
        'Where the steps of the run and its changes of records are on the topics; other runs may have written between them.',
    }),
  }),
);

export const runInputShape = data(
  z.strictObject({
    stored: z.boolean().meta({
      description:
        'False: the run was called without input, or its input is gone. It is kept for 7 days, and destroyed with its connection.',
    }),
    input: anyJson.meta({ description: 'As it was sent; null when it is not stored.' }),
  }),
);

const revertCounts = z.strictObject({
  deleted: z.int(),
  updated: z.int(),
  restored: z.int().describe('Number of records whose former payload is restored.'),
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
          id: z.string().describe('Id of the record.'),
          reason: z
            .enum(['changed_since', 'former_pruned', 'former_gone', 'purged'])
            .describe('Why it is left alone.'),
          actor: z.string().nullable(),
          run_id: z.string().nullable(),
        }),
      )
      .meta({ description: 'The first 1,000 that are left alone, and who changed them since.' })
      .describe('Some of the records that are left alone, with the reason.'),
  }),
);

const stepOf = (row: StepRow): RunStepShown => JSON.parse(row.step) as RunStepShown;
const timeOf = (row: Step): string => isoMicros(Number(row.at));

/** End position of the changes of the run; null while it is running. */
export function changesEndOf(rows: readonly [StepRow, ...StepRow[]]): ChangesEnd {
  const last = lastOf(rows);
  const { action: status, log_partition: partition, log_offset: offset } = last;
  if (!isEnd(status)) return null;
  const { models, positions } = stepOf(last);
  if (positions !== undefined) return changesEnd({ status, models, positions });
  return status === 'succeeded' ? { reportedAt: { partition, offset: Number(offset) } } : null;
}

/** The newest step, but for entries of its timeline. */
export const lastOf = (rows: readonly [StepRow, ...StepRow[]]): StepRow =>
  rows.findLast(({ action }) => action !== 'progress') ?? rows[0];

export const hasEnded = (rows: readonly [StepRow, ...StepRow[]]): boolean =>
  isEnd(lastOf(rows).action);

/** The models of the run. */
export const modelsOf = (rows: readonly [StepRow, ...StepRow[]]): readonly string[] =>
  stepOf(lastOf(rows)).models;

/** The failure of the run's code, and the connection under whose key the response in it is sealed. */
export function failureOf(
  rows: readonly [StepRow, ...StepRow[]],
): { readonly detail: FailureDetail; readonly connectionUid: string } | null {
  const { failure, connection_uid: connectionUid = '' } = stepOf(lastOf(rows));
  return failure === undefined ? null : { detail: failure, connectionUid };
}

/** A run in the format of the API. `rows`: its steps in order; at least one. */
export function presentRun(
  rows: readonly [StepRow, ...StepRow[]],
  { isReadable, wait }: Pick<RunSteps, 'isReadable' | 'wait'>,
) {
  const last = lastOf(rows);
  const queued = rows.find(({ action }) => action !== 'progress') ?? rows[0];
  const started = rows.find(({ action }) => action === 'started');
  return run.of({ queued, started, last, step: stepOf(last), isReadable, wait });
}

/** The run at one step. `queued_at` is null but where it was queued first; `records_readable` and `waiting` are null. */
export function presentRunChange(change: RunChanged) {
  const { action, attempt, occurred_at, started_at } = change;
  const last = {
    run_id: change.run_id ?? '',
    at: String(occurred_at),
    action,
    attempt,
    kind: change.kind,
    function: change.function,
    integration: change.integration ?? '',
    connection_id: change.connection_id ?? '',
    variant: change.variant,
  };
  const startedAt = action === 'started' ? occurred_at : started_at;
  const started = startedAt === null ? undefined : { ...last, at: String(startedAt) };
  const step = shownStep(change);
  const shown = run.of({ queued: last, started, last, step, isReadable: null, wait: null });
  return action === 'queued' && attempt === 1 ? shown : { ...shown, queued_at: null };
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

/** The positions of what the run has written, as far as the ledger knows them. */
export function presentEvents(rows: readonly [StepRow, ...StepRow[]]): z.output<typeof event>[] {
  const byPartition = Map.groupBy(rows, ({ log_partition: partition }) => partition);
  const steps = [...byPartition].map(([partition, list]) => {
    const offsets = list.map(({ log_offset: offset }) => Number(offset));
    return {
      topic: runs.topic,
      model: null,
      partition,
      first_offset: Math.min(...offsets),
      last_offset: Math.max(...offsets),
      count: offsets.length,
    };
  });
  const { counts: changed, positions = [] } = stepOf(lastOf(rows));
  const changes = positions.map(({ model, partition, offset }) => {
    const counted = changed.find((one) => one.model === model);
    const count = (counted?.added ?? 0) + (counted?.updated ?? 0) + (counted?.deleted ?? 0);
    const last_offset = offset - 1;
    return { topic: recordsTopic, model, partition, first_offset: null, last_offset, count };
  });
  return [...steps, ...changes.filter(({ count }) => count > 0)];
}

/** Without fields that do not apply. */
function messageOf({ at: _, what, ...facts }: TimelineEntry) {
  return {
    what,
    ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)),
  };
}

const jsonOf = (text: string | null): JsonObject | null =>
  text === null ? null : (parseRawJson(text) as JsonObject);

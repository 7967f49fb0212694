import type { PublicFields } from '#kernel/public-fields.ts';
import type { Instant, Micros } from '#kernel/time.ts';
import type * as values from '#streams/values.ts';

export type RunKind = 'sync' | 'action' | 'on-event' | 'on-change' | 'webhook' | 'dryrun';
export type RunAction =
  | 'queued'
  /** It was queued to wait for other runs (`isHeld`), and no longer waits. */
  | 'admitted'
  | 'started'
  | 'progress'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'timed_out'
  | 'interrupted';

/** Position of a body on `svc.internal.run-bodies.v1`. */
export type BodyPlace = { readonly partition: number; readonly offset: number };

/**
 * One step of a run. Fields that do not apply are null. `what`: `request` (method, path, status, duration_ms), `save`,
 * `update`, `delete` (model, count), `track_deletes_start`, `track_deletes_end` (model, count), `checkpoint_saved`
 * (message), `checkpoint_cleared`, `log` (level, message), `recorded` (count of calls,
 * message: bytes), `joined` (message), `waiting` (message), `truncated`: the rest is omitted. An open set.
 */
export type TimelineEntry = values.TimelineEntry;

/** Defaults of fields that most entries do not have. */
export const quietEntry = {
  method: null,
  path: null,
  status: null,
  duration_ms: null,
  model: null,
  count: null,
  level: null,
  message: null,
} as const satisfies Partial<TimelineEntry>;

/** A value of `svc.runs.v1`. */
export interface RunChanged extends values.RunChanged {
  readonly kind: RunKind;
  readonly action: RunAction;
}

/** The same without the common fields. */
export type RunStep = Omit<RunChanged, keyof PublicFields>;

/** Defaults of fields that most steps do not have. */
export const quietStep = {
  variant: 'base',
  models: [],
  trigger: null,
  start_by: null,
  empty_cache: false,
  is_initial: false,
  started_at: null,
  checkpoint_from: null,
  checkpoint_to: null,
  counts: [],
  positions: [],
  duration_ms: null,
  input_hash: null,
  output_hash: null,
  body_partition: null,
  body_offset: null,
  error_code: null,
  error_message: null,
  failure: null,
  timeline: [],
} as const satisfies Partial<RunStep>;

/** One attempt of a run, for its runner. */
export interface Attempt {
  readonly kind: RunKind;
  readonly runId: string;
  /** From 1. */
  readonly number: number;
  /** `run:<id>`, for events. */
  readonly actor: string;
  /** Of its operation in the log that users read. */
  readonly operationId: string;
  readonly functionName: string;
  readonly variant: string;
  readonly trigger: string | null;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
  /** Null: it starts at once, or it is a sync. */
  readonly startBy: Instant | null;
  /** Null: it has none, or its caller has it in this process. */
  readonly input: BodyPlace | null;
  /** Of a sync: its records are deleted first. */
  readonly emptyCache: boolean;
}

export const actorOf = (runId: string): string => `run:${runId}`;

/** The attempt that a step is of. */
export function attemptOf(step: RunChanged): Attempt {
  const { run_id, body_partition: partition, body_offset: offset, start_by } = step;
  const runId = run_id ?? '';
  return {
    kind: step.kind,
    runId,
    number: step.attempt,
    actor: actorOf(runId),
    operationId: step.log_id,
    functionName: step.function,
    variant: step.variant,
    trigger: step.trigger,
    environmentUid: step.environment_id,
    integrationKey: step.integration ?? '',
    connectionId: step.connection_id ?? '',
    connectionUid: step.connection_uid,
    startBy: start_by === null ? null : millis(start_by),
    input: partition === null || offset === null ? null : { partition, offset },
    emptyCache: step.empty_cache,
  };
}

const ends = new Set<string>(['succeeded', 'failed', 'cancelled', 'timed_out', 'interrupted']);
export const isEnd = (action: string): boolean => ends.has(action);

/** Queued by a process that runs it itself, and started in the same decision. Later attempts of a sync have started, too. */
export const isTaken = ({ action, attempt, started_at }: RunStep): boolean =>
  action === 'queued' && attempt === 1 && started_at !== null;

/** Entry of the timeline of a queued run that must not start before it is admitted. */
export const waitingEntry = 'waiting';
export const isHeld = ({ action, timeline }: RunStep): boolean =>
  action === 'queued' && timeline.some(({ what }) => what === waitingEntry);

export const micros = (at: Instant): Micros => at * 1000;
export const millis = (at: Micros): Instant => Math.floor(at / 1000);

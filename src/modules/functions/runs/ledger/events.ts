import type { PublicFields } from '#kernel/public-fields.ts';
import type { Instant, Micros } from '#kernel/time.ts';
import type * as values from '#streams/values.ts';

export type RunKind = 'sync' | 'action' | 'on-event' | 'webhook' | 'dryrun';
export type RunAction =
  | 'queued'
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
 * (message), `checkpoint_cleared`, `log` (level, message), `truncated`: the rest is omitted. An open set.
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
  timeline: [],
} as const satisfies Partial<RunStep>;

const ends = new Set<string>(['succeeded', 'failed', 'cancelled', 'timed_out', 'interrupted']);
export const isEnd = (action: string): boolean => ends.has(action);

/** Queued by a process that runs it itself: an invoked run, started when it was queued. */
export const isTaken = ({ kind, action, started_at }: RunStep): boolean =>
  kind !== 'sync' && action === 'queued' && started_at !== null;

export const micros = (at: Instant): Micros => at * 1000;
export const millis = (at: Micros): Instant => Math.floor(at / 1000);

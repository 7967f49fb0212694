import type { PublicFields } from '../../../kernel/public-fields.ts';
import type { Instant, Micros } from '../../../kernel/time.ts';
import type { ModelPosition, ModelResult } from '../../records/events.ts';

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

/** One step of a run. Fields that do not apply are null. */
export interface TimelineEntry {
  readonly at: Micros;
  /**
   * `request` (method, path, status, duration_ms), `save`, `update`, `delete` (model, count), `track_deletes_start`,
   * `track_deletes_end` (model, count), `checkpoint_saved` (message), `checkpoint_cleared`, `log` (level, message),
   * `truncated`: the rest is omitted. An open set.
   */
  readonly what: string;
  readonly method: string | null;
  /** Of the address, without its query. */
  readonly path: string | null;
  /** Null without a response. */
  readonly status: number | null;
  readonly duration_ms: number | null;
  readonly model: string | null;
  /** Of records. */
  readonly count: number | null;
  readonly level: string | null;
  /** At most 2 KiB, with secrets masked. */
  readonly message: string | null;
}

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

/**
 * A value of `svc.runs.v1` after the common fields.
 * @see schemas/runs/run-changed.v1.avsc
 */
export interface RunStep {
  readonly kind: RunKind;
  readonly function: string;
  readonly function_version: string;
  readonly action: RunAction;
  readonly attempt: number;
  readonly connection_uid: string;
  readonly variant: string;
  readonly models: readonly string[];
  readonly trigger: string | null;
  readonly start_by: Micros | null;
  readonly empty_cache: boolean;
  readonly is_initial: boolean;
  readonly started_at: Micros | null;
  readonly checkpoint_from: string | null;
  readonly checkpoint_to: string | null;
  readonly counts: readonly ModelResult[];
  readonly positions: readonly ModelPosition[];
  readonly duration_ms: number | null;
  readonly input_hash: string | null;
  readonly output_hash: string | null;
  readonly body_partition: number | null;
  readonly body_offset: number | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly log_id: string;
  /** On `progress`: the steps of the attempt since the last one. */
  readonly timeline: readonly TimelineEntry[];
}

/** The whole value of `svc.runs.v1`. */
export type RunChanged = PublicFields & RunStep;

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

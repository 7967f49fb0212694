import type { RunStepShown } from './projection.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';
import { isoMicros } from '../../../kernel/time.ts';
import { changesEnd, type ChangesEnd } from '../../records/readable.ts';
import { isEnd, type TimelineEntry } from './events.ts';
import type { StepRow } from './queries.ts';

const stepOf = (row: StepRow): RunStepShown => JSON.parse(row.step) as RunStepShown;
const timestamp = (row: StepRow | undefined): string | null =>
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
    queued_at: timestamp(life[0] ?? first),
    started_at: timestamp(life.find(({ action }) => action === 'started')),
    ended_at: ended ? timestamp(last) : null,
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

import { limits } from '#kernel/limits.ts';
import { defineAppended } from '#streams/projector/appended.ts';
import type { FailureDetail } from '#streams/values.ts';
import type { RunChanged } from './events.ts';

/**
 * The ledger of runs, one row per step. Sort order for queries of an environment within a time range; a run is found by
 * its id, and those of a connection by an index.
 */
export const runs = defineAppended<RunChanged>()({
  name: 'runs',
  topic: 'svc.runs.v1',
  schemaVersion: 1,
  columns: [
    ['environment_id', 'LowCardinality(String)'],
    ['occurred_at', "DateTime64(6, 'UTC')"],
    ['run_id', 'String CODEC(ZSTD(1))'],
    ['action', 'LowCardinality(String)'],
    ['kind', 'LowCardinality(String)'],
    ['function', 'LowCardinality(String)'],
    ['integration', 'LowCardinality(String)'],
    ['connection_id', 'String CODEC(ZSTD(1))'],
    ['variant', 'LowCardinality(String)'],
    ['attempt', 'UInt32'],
    // The complete step as JSON, for the queries that need it.
    ['step', 'String CODEC(ZSTD(1))'],
  ],
  indexes: ['INDEX runs run_id TYPE bloom_filter(0.01) GRANULARITY 4'],
  addedIndexes: [['connections', 'connection_id TYPE bloom_filter(0.01) GRANULARITY 1']],
  orderBy: ['environment_id', 'occurred_at'],
  keptFrom: 'occurred_at',
  keepDays: limits.runsKeptDays,
  write(writer, change) {
    writer.string(change.environment_id);
    writer.time(change.occurred_at);
    writer.string(change.run_id ?? '');
    writer.string(change.action);
    writer.string(change.kind);
    writer.string(change.function);
    writer.string(change.integration ?? '');
    writer.string(change.connection_id ?? '');
    writer.string(change.variant);
    writer.uint(change.attempt);
    writer.string(JSON.stringify(shownStep(change)));
  },
});

/** The fields of a step for the history, beside the columns. Without hashes and positions of bodies. */
export const shownStep = (change: RunChanged) => ({
  function_version: change.function_version,
  models: change.models,
  trigger: change.trigger,
  started_at: change.started_at,
  duration_ms: change.duration_ms,
  counts: change.counts,
  /** Absent in rows of earlier releases. */
  positions: change.positions as RunChanged['positions'] | undefined,
  checkpoint_from: change.checkpoint_from,
  checkpoint_to: change.checkpoint_to,
  error_code: change.error_code,
  error_message: change.error_message,
  /** Absent without one, and in rows of earlier releases. */
  ...(change.failure === null
    ? {}
    : { failure: change.failure, connection_uid: change.connection_uid }),
  log_id: change.log_id,
  timeline: change.timeline,
});

/** The column `step`. */
export type RunStepShown = Omit<ReturnType<typeof shownStep>, 'failure' | 'connection_uid'> & {
  readonly failure?: FailureDetail;
  readonly connection_uid?: string;
};

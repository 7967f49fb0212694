import { uuidV5 } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/stable-json.ts';
import type { Instant } from '../../kernel/time.ts';

export type RunStatus =
  'queued' | 'started' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out' | 'interrupted';
/** How a run can end: exactly one of these is appended for each run. */
export type EndStatus = Exclude<RunStatus, 'queued' | 'started'>;
/** What queued the run. */
export type RunTrigger = 'creation' | 'start' | 'schedule' | 'api';

export interface CurrentRun {
  readonly runId: string;
  /** From 1; grows when a run whose runner fell silent is queued again. */
  readonly attempt: number;
  readonly status: 'queued' | 'started';
  readonly trigger: RunTrigger;
  /** Of this attempt. */
  readonly queuedAt: Instant;
  /** A queued attempt that has not started by then fails. */
  readonly startBy: Instant;
  /** Of the first attempt. */
  readonly startedAt: Instant | null;
  readonly heartbeatAt: Instant | null;
  /** Made by the runner that holds the attempt: tells its repeated report from another runner's. */
  readonly runner: string | null;
  /** The records of all models are removed before user code runs. */
  readonly emptyCache: boolean;
  /** No successful run, or a reset, came before it. */
  readonly isInitial: boolean;
  readonly checkpointFrom: JsonObject | null;
}

export interface LastRun {
  readonly runId: string;
  readonly attempt: number;
  readonly status: RunStatus;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly isInitial: boolean;
  readonly counts: Readonly<Record<string, { added: number; updated: number; deleted: number }>>;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A sync of one connection. Scope = that of the connection; path [...connection path, sync name, variant]. */
export interface SyncInstance {
  readonly id: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
  readonly syncName: string;
  readonly variant: string;
  readonly models: readonly string[];
  /** The label of the deployed function's version. */
  readonly functionVersion: string;
  /** Whether its schedule runs. */
  readonly state: 'started' | 'paused';
  readonly frequencyMs: number;
  /** Set by the API for this connection; survives deploys. */
  readonly frequencyOverrideMs: number | null;
  readonly nextDueAt: Instant | null;
  readonly checkpoint: JsonObject | null;
  readonly checkpointVersion: number;
  readonly lastSyncDate: Instant | null;
  readonly current: CurrentRun | null;
  readonly last: LastRun | null;
  readonly createdAt: Instant;
}

/** What the schedule goes by: the connection's own frequency, or the deployed one. */
export function effectiveFrequencyMs(
  instance: Pick<SyncInstance, 'frequencyMs' | 'frequencyOverrideMs'>,
): number {
  return instance.frequencyOverrideMs ?? instance.frequencyMs;
}

type Scheduled = Pick<SyncInstance, 'id' | 'createdAt' | 'frequencyMs' | 'frequencyOverrideMs'>;

/**
 * The first time after `at` on the instance's grid. The grid begins at the creation plus up to a tenth of the
 * frequency, chosen by the id: instances that one deploy made together do not run together. It depends
 * on nothing else, so runs never drift.
 */
export function slotAfter(instance: Scheduled, at: Instant): Instant {
  const frequencyMs = effectiveFrequencyMs(instance);
  const anchor = instance.createdAt + spreadMs(instance.id, frequencyMs);
  const passed = Math.floor((at - anchor) / frequencyMs);
  return anchor + (Math.max(passed, 0) + 1) * frequencyMs;
}

/**
 * A due time further away than two periods was made before the wall clock went back: it is set anew, so
 * that no slot is lost.
 */
export function isBeyondGrid(instance: SyncInstance, at: Instant): boolean {
  return (
    instance.nextDueAt !== null && instance.nextDueAt > at + 2 * effectiveFrequencyMs(instance)
  );
}

function spreadMs(id: string, frequencyMs: number): number {
  const part = Number.parseInt(uuidV5(id, 'schedule').slice(0, 8), 16) / 2 ** 32;
  return Math.floor((part * frequencyMs) / 10);
}

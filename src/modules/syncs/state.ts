import type { JsonObject } from '../../kernel/stable-json.ts';
import type { Instant } from '../../kernel/time.ts';

export type RunStatus = 'queued' | 'started' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out' | 'interrupted';

export interface CurrentRun {
  readonly runId: string;
  readonly attempt: number;
  readonly status: 'queued' | 'started';
  readonly queuedAt: Instant;
  readonly startedAt: Instant | null;
  readonly heartbeatAt: Instant | null;
}

export interface LastRun {
  readonly runId: string;
  readonly status: RunStatus;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
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

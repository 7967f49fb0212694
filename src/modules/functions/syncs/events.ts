import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { ModelPosition, ModelResult } from '#modules/records/model/events.ts';
import type { FailureDetail } from '#streams/values.ts';

export type RunStatus =
  | 'queued'
  | 'started'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'timed_out'
  | 'interrupted';
/** Outcomes of a run: exactly one of these is appended for each run. */
export type EndStatus = Exclude<RunStatus, 'queued' | 'started'>;
/** The cause of the run. */
export type RunTrigger = 'creation' | 'start' | 'schedule' | 'api';

export type RunFailure = {
  readonly code: string;
  readonly message: string;
  /** Of the code of the function. Absent: none of it failed, or by an earlier release. */
  readonly detail?: FailureDetail;
};

/** Properties of an instance; `functionVersion` is the label of the deployed function. */
export type InstanceProperties = {
  readonly id: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
  readonly syncName: string;
  readonly variant: string;
  readonly models: readonly string[];
  readonly functionVersion: string;
  readonly frequencyMs: number;
};

/** Events of a sync of a connection and of its runs. */
export type SyncEvent =
  | ({ readonly type: 'InstanceCreated'; readonly at: Instant } & InstanceProperties)
  | { readonly type: 'InstanceRemoved'; readonly at: Instant }
  | {
      readonly type: 'FunctionRedeployed';
      readonly models: readonly string[];
      readonly functionVersion: string;
      readonly frequencyMs: number;
    }
  | { readonly type: 'ScheduleStarted' }
  | { readonly type: 'SchedulePaused' }
  | { readonly type: 'FrequencyChanged'; readonly overrideMs: number | null }
  /** The next due time; null while paused. */
  | { readonly type: 'DueTimeSet'; readonly nextDueAt: Instant | null }
  | { readonly type: 'InstanceReset' }
  | {
      readonly type: 'RunQueued';
      readonly runId: string;
      readonly at: Instant;
      readonly startBy: Instant;
      readonly trigger: RunTrigger;
      readonly emptyCache: boolean;
      /** It starts at once, in the process that triggers it. */
      readonly isTaken?: true;
    }
  /** The previous attempt was lost: its runner stopped sending heartbeats or returned it. */
  | {
      readonly type: 'RunRequeued';
      readonly runId: string;
      readonly attempt: number;
      readonly at: Instant;
      readonly startBy: Instant;
    }
  | {
      readonly type: 'RunStarted';
      readonly runId: string;
      readonly attempt: number;
      readonly at: Instant;
      readonly runner: string;
    }
  | { readonly type: 'HeartbeatReceived'; readonly at: Instant }
  | { readonly type: 'CheckpointSaved'; readonly checkpoint: JsonObject }
  | { readonly type: 'CheckpointCleared' }
  | {
      readonly type: 'RunEnded';
      readonly runId: string;
      readonly attempt: number;
      readonly status: EndStatus;
      readonly at: Instant;
      readonly counts: readonly ModelResult[];
      readonly positions: readonly ModelPosition[];
      readonly error: RunFailure | null;
    };

import type { Instant } from '#kernel/time.ts';
import type { ModelPosition, ModelResult } from '#modules/records/model/events.ts';
import type { BodyPlace } from '../runs/ledger/events.ts';
import type { RunFailure } from '../syncs/events.ts';
import type { EndStatus } from '../syncs/state.ts';
import type { ActionRun } from './state.ts';

export type ActionBorn = Pick<
  ActionRun,
  | 'runId'
  | 'kind'
  | 'event'
  | 'models'
  | 'environmentUid'
  | 'integrationKey'
  | 'connectionId'
  | 'connectionUid'
  | 'name'
  | 'functionVersion'
  | 'isAsync'
  | 'isKept'
  | 'concurrency'
  | 'joined'
  | 'depth'
  | 'retriesLeft'
  | 'input'
  | 'inputHash'
>;

/** Events of a run. */
export type ActionEvent =
  | ({
      readonly type: 'ActionQueued';
      readonly startBy: Instant;
      /** It starts in the same decision: no other runner may start it. */
      readonly isTaken?: true;
      /** It is held: so many runs wait before it. Absent: it may start. */
      readonly ahead?: number;
    } & ActionBorn)
  /** The run is no longer held. */
  | { readonly type: 'ActionAdmitted'; readonly startBy: Instant }
  | { readonly type: 'ActionStarted'; readonly at: Instant; readonly runner: string }
  | { readonly type: 'ActionHeartbeatReceived'; readonly at: Instant }
  /** The previous attempt failed or crashed, and retries are left. */
  | { readonly type: 'ActionRequeued'; readonly attempt: number; readonly startBy: Instant }
  | {
      readonly type: 'ActionEnded';
      readonly status: EndStatus;
      readonly at: Instant;
      readonly output: BodyPlace | null;
      readonly outputHash: string | null;
      readonly error: RunFailure | null;
      /** Of a webhook. Absent: none. */
      readonly counts?: readonly ModelResult[];
      readonly positions?: readonly ModelPosition[];
    }
  /** The retention of its output has passed. */
  | { readonly type: 'ActionForgotten' };

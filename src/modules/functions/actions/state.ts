import type { Instant } from '#kernel/time.ts';
import type { BodyPlace } from '../runs/ledger/events.ts';
import type { EndStatus } from '../syncs/state.ts';

/** The kinds of invoked runs: an action, an on-event or on-change function, a sync's `onWebhook`, a dry run. */
export type CalledKind = 'action' | 'on-event' | 'on-change' | 'webhook' | 'dryrun';

/** The body of a webhook that a run has joined: put under the id of a run of its own, which does not exist. */
export interface JoinedInput {
  readonly runId: string;
  readonly place: BodyPlace;
}

/** The webhooks of one run. */
export interface JoinedWebhooks {
  readonly webhooks: number;
  /** What `onWebhook` gets: the newest body, or a list of all. */
  readonly payload: 'last' | 'all';
  readonly inputs: readonly JoinedInput[];
}

/**
 * One run of an action, of an on-event or on-change function, or of a sync's `onWebhook`. Scope = that of the connection; path
 * [environment uid, run id]. A synchronous run is deleted when it has finished; an asynchronous one is kept until its
 * output expires.
 */
export interface ActionRun {
  readonly runId: string;
  /** Absent: an action. */
  readonly kind?: CalledKind;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
  /** Name of the function; for a webhook the sync's. */
  readonly name: string;
  readonly functionVersion: string;
  /** Event of an on-event function; type of the function that a dry run tries. Absent: it has none. */
  readonly event?: string;
  /** Models that a webhook's sync or an on-change function declares. Absent: none. */
  readonly models?: readonly string[];
  /** Asynchronous: no caller waits for its outcome. */
  readonly isAsync: boolean;
  /** Requested with an Idempotency-Key: its outcome is kept as long as the key. Absent: no. */
  readonly isKept?: true;
  /**
   * How many runs of the function its connection has at the same time, when it was queued. Absent: no limit of its own.
   */
  readonly concurrency?: number;
  /** It waits until one of those runs has ended. Absent: it may start. */
  readonly isHeld?: true;
  /** In place of an input, until it has ended. Absent: it is no run of joined webhooks. */
  readonly joined?: JoinedWebhooks;
  /** Call depth of actions; 0 = called from outside. */
  readonly depth: number;
  /** Further attempts after a failure; asynchronous runs only. */
  readonly retriesLeft: number;
  readonly status: 'queued' | 'started' | EndStatus;
  readonly attempt: number;
  /** Null when the caller sent no input. */
  readonly input: BodyPlace | null;
  readonly inputHash: string | null;
  readonly startBy: Instant;
  readonly startedAt: Instant | null;
  readonly heartbeatAt: Instant | null;
  readonly runner: string | null;
  /** Output or error; null before the end and without one. */
  readonly output: BodyPlace | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly endedAt: Instant | null;
}

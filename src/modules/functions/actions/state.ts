import type { Instant } from '../../../kernel/time.ts';
import type { BodyPlace } from '../runs/events.ts';
import type { EndStatus } from '../syncs/state.ts';

/** What is run once, on demand: an action, a function of an event, what a sync does with a webhook, a dry run. */
export type CalledKind = 'action' | 'on-event' | 'webhook' | 'dryrun';

/**
 * One run of an action, of an on-event function, or of a sync's `onWebhook`. Scope = that of the connection; path
 * [environment uid, run id]. A run that its caller waits for is gone once it has ended; an asynchronous one
 * stays until its output expires.
 */
export interface ActionRun {
  readonly runId: string;
  /** Absent: an action. */
  readonly kind?: CalledKind;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
  /** Of the function; of a webhook it is the sync's. */
  readonly name: string;
  readonly functionVersion: string;
  /** Event of an on-event function; type of the function that a dry run tries. Absent: it has none. */
  readonly event?: string;
  /** Models that a webhook's sync declares. Absent: none. */
  readonly models?: readonly string[];
  /** Asynchronous: no caller waits for its outcome. */
  readonly isAsync: boolean;
  /** It was asked for with an Idempotency-Key: its end stays for as long as the key. Absent: no. */
  readonly isKept?: true;
  /** How many actions called one another down to this one; 0 = called from outside. */
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
  /** Output or error; null before the end and where there is none. */
  readonly output: BodyPlace | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly endedAt: Instant | null;
}

export const kindOf = ({ kind = 'action' }: Pick<ActionRun, 'kind'>): CalledKind => kind;

import type { FeedChange } from '../read-changes.ts';
import type { Subscription } from '../subscriptions/subscription.ts';

/** The outcome of sending changes. */
export type SendOutcome =
  | { readonly isTaken: true }
  | {
      readonly isTaken: false;
      /** Whether the target refused them; otherwise they are sent again until it has an outcome. */
      readonly isByTarget: boolean;
      /** Without secrets. */
      readonly reason: string;
    };

export interface BatchAttempt {
  /** UUID, the same for the same changes in all attempts. */
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
}

/** How the changes of a subscription reach its target. */
export interface OpenedTarget {
  /** Changes of a batch, at most. */
  readonly batchSize: number;
  /** Further attempts after a refusal, before changes are parked. */
  readonly retries: number;
  /** Whether a batch has changes of one connection alone. */
  readonly isOfConnection: boolean;
  /** @throws the signal's reason */
  send(
    changes: readonly Pick<FeedChange, 'text' | 'connectionUid'>[],
    batch: BatchAttempt,
    signal: AbortSignal,
  ): Promise<SendOutcome>;
}

/** Null: its changes wait, for example because the function is disabled. */
export type OpenTarget = (subscription: Subscription) => OpenedTarget | null;

import type { PublicFields } from '../../src/kernel/public-fields.ts';

/** Types of messages of the topic. The first one is the dead letter itself; the others refer to it. */
export type DeadLetterType =
  | 'svc.dead-letter.added'
  | 'svc.dead-letter.retried'
  | 'svc.dead-letter.resolved'
  | 'svc.dead-letter.retry_failed'
  | 'svc.dead-letter.dropped';

/**
 * A value of `svc.dead-letters.v1` after the common fields.
 * @see schemas/control/dead-letter.v1.avsc
 */
export interface DeadLetterStep {
  /** Consumer group that gave up, and the message. */
  readonly consumer: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly attempts: number;
  /** Empty on `resolved` when the retry succeeded. */
  readonly error_code: string;
  readonly error_message: string;
  /** The dead letter that this step refers to; null on the dead letter itself. */
  readonly letter_id: string | null;
  /** Idempotency key of an operator's request. */
  readonly order_key: string | null;
  /** The message, on the dead letter only. */
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: Readonly<Record<string, Uint8Array>>;
}

/** The whole value. */
export type DeadLetterValue = PublicFields & DeadLetterStep;

/** Header of a command that is returned to its owner: the id of its dead letter. */
export const deadLetterHeader = 'svc-dead-letter';

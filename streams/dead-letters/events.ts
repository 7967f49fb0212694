import type { PublicFields } from '../../src/kernel/public-fields.ts';

/** What a message of the topic says. The first one is the letter; the others name it. */
export type DeadLetterType =
  | 'svc.dead-letter.added'
  | 'svc.dead-letter.retried'
  | 'svc.dead-letter.resolved'
  | 'svc.dead-letter.retry_failed'
  | 'svc.dead-letter.dropped';

/** A value of `svc.dead-letters.v1` after the common fields. Mirrors schemas/control/dead-letter.v1.avsc. */
export interface DeadLetterStep {
  /** Consumer group that gave up, and the message that it gave up. */
  readonly consumer: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly attempts: number;
  /** Empty on `resolved` when the consumer had nothing against the message any more. */
  readonly error_code: string;
  readonly error_message: string;
  /** The letter that this is about; null on the letter itself. */
  readonly letter_id: string | null;
  /** Of an order: the same key orders once. */
  readonly order_key: string | null;
  /** The message, on the letter only. */
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: Readonly<Record<string, Uint8Array>>;
}

/** The whole value. */
export type DeadLetterValue = PublicFields & DeadLetterStep;

/** Header of a command that is given to its owner again: the id of its letter. */
export const deadLetterHeader = 'svc-dead-letter';

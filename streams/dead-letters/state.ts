import type { Micros } from '#kernel/time.ts';
import type { DeadLetterValue } from './events.ts';

export type DeadLetterState = 'parked' | 'retrying' | 'resolved' | 'dropped';

/** The state of a dead letter, without the message itself. */
export interface DeadLetter {
  readonly id: string;
  readonly state: DeadLetterState;
  /** Position of the dead letter on `svc.dead-letters.v1`. */
  readonly place: { readonly partition: number; readonly offset: number };
  /** The origin of the message: consumer group, topic, partition, offset. */
  readonly consumer: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly environmentUid: string;
  readonly integration: string | null;
  readonly connectionId: string | null;
  readonly runId: string | null;
  /** In total, including retries. */
  readonly attempts: number;
  /** Of the last attempt; empty after success. */
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly parkedAt: Micros;
  readonly changedAt: Micros;
  readonly changedBy: string;
  readonly retries: number;
  /** The last accepted request: its offset and its key. */
  readonly order: { readonly offset: number; readonly key: string | null } | null;
}

type DeadLetterPosition = { readonly partition: number; readonly offset: number };

/** The new dead letter that the message contains. */
export function parked(value: DeadLetterValue, at: DeadLetterPosition): DeadLetter {
  return {
    id: value.event_id,
    state: 'parked',
    place: at,
    consumer: value.consumer,
    topic: value.topic,
    partition: value.partition,
    offset: value.offset,
    key: value.key === null ? '' : Buffer.from(value.key).toString(),
    environmentUid: value.environment_id,
    integration: value.integration,
    connectionId: value.connection_id,
    runId: value.run_id,
    attempts: value.attempts,
    errorCode: value.error_code,
    errorMessage: value.error_message,
    parkedAt: value.occurred_at,
    changedAt: value.occurred_at,
    changedBy: value.actor,
    retries: 0,
    order: null,
  };
}

/** The dead letter after the message at the offset. A message that does not fit its state changes nothing. */
export function evolve(deadLetter: DeadLetter, value: DeadLetterValue, offset: number): DeadLetter {
  const changed = { ...deadLetter, changedAt: value.occurred_at, changedBy: value.actor };
  const order = { offset, key: value.order_key };
  const isParked = deadLetter.state === 'parked';
  const isRetrying = deadLetter.state === 'retrying';
  const outcome = {
    attempts: deadLetter.attempts + value.attempts,
    errorCode: value.error_code,
    errorMessage: value.error_message,
  };
  switch (value.type) {
    case 'svc.dead-letter.retried':
      if (!isParked) return deadLetter;
      return { ...changed, state: 'retrying', retries: deadLetter.retries + 1, order };
    case 'svc.dead-letter.dropped':
      return isParked ? { ...changed, state: 'dropped', order } : deadLetter;
    case 'svc.dead-letter.resolved':
      return isRetrying ? { ...changed, ...outcome, state: 'resolved' } : deadLetter;
    case 'svc.dead-letter.retry_failed':
      return isRetrying ? { ...changed, ...outcome, state: 'parked' } : deadLetter;
    default:
      return deadLetter;
  }
}

import { isoMicros } from '../../../kernel/time.ts';
import type { Attempt, Delivery } from './delivery-store.ts';

/** One message to one endpoint, without its body. */
export function presentDelivery(delivery: Delivery) {
  const { nextAttemptAt } = delivery;
  return {
    id: delivery.messageId,
    endpoint_id: delivery.endpointId,
    kind: delivery.kind,
    state: delivery.state,
    provider_config_key: delivery.integration,
    connection_id: delivery.connectionId,
    run_id: delivery.runId,
    attempts: delivery.attempts,
    status: delivery.status,
    error_code: delivery.errorCode,
    next_attempt_at: nextAttemptAt === null ? null : isoMicros(nextAttemptAt),
    replay_of: delivery.replayOf,
    created_at: isoMicros(delivery.createdAt),
    updated_at: isoMicros(delivery.changedAt),
  };
}

export function presentAttempt(attempt: Attempt) {
  const { nextAttemptAt } = attempt;
  return {
    attempt: attempt.attempt,
    at: isoMicros(attempt.at),
    success: attempt.isDelivered,
    status: attempt.status,
    error_code: attempt.errorCode,
    latency_ms: attempt.latencyMs,
    next_attempt_at: nextAttemptAt === null ? null : isoMicros(nextAttemptAt),
  };
}

import { z } from 'zod';
import { anyJson, data, timestamp } from '../../../http/responses.ts';
import { deliveryStates, type Attempt, type Delivery } from './delivery-store.ts';
import { isoMicros } from '../../../kernel/time.ts';

const shown = {
  id: z.string(),
  endpoint_id: z.string(),
  kind: z.string(),
  state: z.enum(deliveryStates),
  provider_config_key: z.string().nullable(),
  connection_id: z.string().nullable(),
  run_id: z.string().nullable(),
  attempts: z.int(),
  status: z.int().nullable(),
  error_code: z.string().nullable(),
  next_attempt_at: timestamp.nullable(),
  replay_of: z.string().nullable(),
  created_at: timestamp,
  updated_at: timestamp,
};

export const messagesShape = z.strictObject({
  data: z.array(z.strictObject(shown).meta({ id: 'WebhookMessage' })),
  next_cursor: z.string().nullable(),
});

const attempt = z.strictObject({
  attempt: z.int(),
  at: timestamp,
  success: z.boolean(),
  status: z.int().nullable(),
  error_code: z.string().nullable(),
  latency_ms: z.int().nullable(),
  next_attempt_at: timestamp.nullable(),
});

export const messageShape = data(
  z.strictObject({
    id: z.string(),
    kind: z.string().nullable(),
    payload: anyJson,
    deliveries: z.array(z.strictObject({ ...shown, attempt_list: z.array(attempt) })),
  }),
);

export const sentShape = data(z.strictObject({ message_ids: z.array(z.string()) }));

export const replayedShape = data(
  z.strictObject({
    dry_run: z.boolean(),
    matched: z.int(),
    replayed: z.int(),
    gone: z.int(),
    message_ids: z.array(z.string()),
    has_more: z.boolean(),
    last_created_at: timestamp.nullable(),
  }),
);

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

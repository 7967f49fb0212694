import { z } from 'zod';
import { representation } from '../../../http/representation.ts';
import { anyJson, data, timestamp } from '../../../http/responses.ts';
import { isoMicros, isoMicrosOrNull } from '../../../kernel/time.ts';
import { deliveryStates, type Attempt, type Delivery } from './delivery-store.ts';

/** One message to one endpoint, without its body. */
const delivery = representation<Delivery>()({
  id: [z.string(), ({ messageId }) => messageId],
  endpoint_id: [z.string(), ({ endpointId }) => endpointId],
  kind: [z.string(), ({ kind }) => kind],
  state: [z.enum(deliveryStates), ({ state }) => state],
  provider_config_key: [z.string().nullable(), ({ integration }) => integration],
  connection_id: [z.string().nullable(), ({ connectionId }) => connectionId],
  run_id: [z.string().nullable(), ({ runId }) => runId],
  attempts: [z.int(), ({ attempts }) => attempts],
  status: [z.int().nullable(), ({ status }) => status],
  error_code: [z.string().nullable(), ({ errorCode }) => errorCode],
  next_attempt_at: [timestamp.nullable(), ({ nextAttemptAt }) => isoMicrosOrNull(nextAttemptAt)],
  replay_of: [z.string().nullable(), ({ replayOf }) => replayOf],
  created_at: [timestamp, ({ createdAt }) => isoMicros(createdAt)],
  updated_at: [timestamp, ({ changedAt }) => isoMicros(changedAt)],
});

export const presentDelivery = delivery.of;

const attempt = representation<Attempt>()({
  attempt: [z.int(), (one) => one.attempt],
  at: [timestamp, ({ at }) => isoMicros(at)],
  success: [z.boolean(), ({ isDelivered }) => isDelivered],
  status: [z.int().nullable(), ({ status }) => status],
  error_code: [z.string().nullable(), ({ errorCode }) => errorCode],
  latency_ms: [z.int().nullable(), ({ latencyMs }) => latencyMs],
  next_attempt_at: [timestamp.nullable(), ({ nextAttemptAt }) => isoMicrosOrNull(nextAttemptAt)],
});

export const presentAttempt = attempt.of;

export const messagesShape = z.strictObject({
  data: z.array(delivery.schema.meta({ id: 'WebhookMessage' })),
  next_cursor: z.string().nullable(),
});

export const messageShape = data(
  z.strictObject({
    id: z.string(),
    kind: z.string().nullable(),
    payload: anyJson,
    deliveries: z.array(delivery.schema.extend({ attempt_list: z.array(attempt.schema) })),
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

import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { anyJson, data, timestamp } from '#http/responses.ts';
import { isoMicros, isoMicrosOrNull } from '#kernel/time.ts';
import { deliveryStates, type Attempt, type Delivery } from './delivery-store.ts';

/** One message to one endpoint, without its body. */
const delivery = representation<Delivery>()({
  id: [
    z.string().describe('Id of the webhook message: the header `webhook-id`.'),
    ({ messageId }) => messageId,
  ],
  endpoint_id: z.string(),
  kind: z.string().describe('Kind of the webhook.'),
  state: z.enum(deliveryStates).describe('State of the delivery.'),
  provider_config_key: [
    z.string().nullable().describe('Unique key of the integration; null where none takes part.'),
    ({ integration }) => integration,
  ],
  connection_id: z
    .string()
    .nullable()
    .describe('Id of the connection; null where none takes part.'),
  run_id: z.string().nullable().describe('Id of the run; null where none takes part.'),
  attempts: z.int(),
  status: z.int().nullable().describe('Status of the last HTTP response; null without one.'),
  error_code: z.string().nullable(),
  next_attempt_at: [timestamp.nullable(), ({ nextAttemptAt }) => isoMicrosOrNull(nextAttemptAt)],
  replay_of: z
    .string()
    .nullable()
    .describe('Id of the message that this one repeats; null otherwise.'),
  created_at: [timestamp, ({ createdAt }) => isoMicros(createdAt)],
  updated_at: [timestamp, ({ changedAt }) => isoMicros(changedAt)],
});

export const presentDelivery = delivery.of;

const attempt = representation<Attempt>()({
  attempt: z.int(),
  at: [timestamp, ({ at }) => isoMicros(at)],
  success: [
    z.boolean().describe('Whether the endpoint answered 2xx.'),
    ({ isDelivered }) => isDelivered,
  ],
  status: z.int().nullable().describe('Status of the HTTP response; null without one.'),
  error_code: z.string().nullable(),
  latency_ms: z
    .int()
    .nullable()
    .describe('Time to the response in milliseconds; null without one.'),
  next_attempt_at: [timestamp.nullable(), ({ nextAttemptAt }) => isoMicrosOrNull(nextAttemptAt)],
});

export const presentAttempt = attempt.of;

export const messagesShape = z.strictObject({
  data: z.array(delivery.schema.meta({ id: 'WebhookMessage' })),
  next_cursor: z.string().nullable(),
});

export const messageShape = data(
  z.strictObject({
    id: z.string().describe('Id of the webhook message.'),
    kind: z.string().nullable().describe('Kind of the webhook; null if its body is gone.'),
    payload: anyJson.describe('Body of the webhook; null if it is gone.'),
    deliveries: z
      .array(
        delivery.schema.extend({
          attempt_list: z.array(attempt.schema).describe('Attempts of the delivery, oldest first.'),
        }),
      )
      .describe('The deliveries, one for each endpoint.'),
  }),
);

export const sentShape = data(z.strictObject({ message_ids: z.array(z.string()) }));

export const replayedShape = data(
  z.strictObject({
    dry_run: z.boolean(),
    matched: z.int(),
    replayed: z.int(),
    gone: z.int().describe('Messages that match, but whose body the log no longer has.'),
    message_ids: z.array(z.string()),
    has_more: z.boolean(),
    last_created_at: timestamp
      .nullable()
      .describe('Time of the last processed message (RFC 3339): `since` of the next request.'),
  }),
);

import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMicros, isoMicrosOrNull } from '#kernel/time.ts';
import type { IncomingWebhook } from './incoming-store.ts';

export const dispositions = [
  'received',
  'accepted',
  'rejected',
  'unmatched',
  'duplicate',
  'reprocessed',
  'refused',
] as const;

/** A webhook of a provider, without its body. */
const webhook = representation<IncomingWebhook>()({
  id: z.uuid().describe('Id of the webhook.'),
  provider_config_key: [z.string(), ({ integration }) => integration],
  disposition: z.enum(dispositions).describe('What became of the webhook.'),
  reason: z.string().nullable().describe('Code of the reason for a rejection; null without one.'),
  status: z.int().nullable().describe('Status of the answer to the provider; null before it.'),
  type: z.string().nullable().describe('Type of the event; null where the request names none.'),
  provider_delivery_id: z
    .string()
    .nullable()
    .describe('Id that repeats of the provider share; null without one.'),
  connection_ids: [
    z.array(z.string()).describe('Ids of the connections that it is about.'),
    ({ connections }) => connections,
  ],
  run_ids: z.array(z.string()).describe('Ids of the runs that it started.'),
  headers: z.record(z.string(), z.string()),
  refused_count: z.int().nullable().meta({
    description:
      'Of `refused`, which is no single webhook: number of unverified webhooks that were not kept in the hour, as of its first, 10th, 100th and so on.',
  }),
  received_at: [
    timestamp.describe('Time of the request (RFC 3339).'),
    ({ receivedAt }) => isoMicros(receivedAt),
  ],
  decided_at: [
    timestamp.nullable().describe('Time of the decision (RFC 3339); null before it.'),
    ({ decidedAt }) => isoMicrosOrNull(decidedAt),
  ],
});

export const presentIncoming = webhook.of;

const incoming = webhook.schema.meta({ id: 'WebhookDelivery' });

export const incomingShape = data(incoming);
export const incomingsShape = z.strictObject({
  data: z.array(incoming),
  next_cursor: z.string().nullable(),
});
export const incomingWithBodyShape = data(
  webhook.schema.extend({
    body: z.string().nullable().describe('The body as text; null if it is not stored.'),
  }),
);

import { z } from 'zod';
import { representation } from '../../../http/representation.ts';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMicros, isoMicrosOrNull } from '../../../kernel/time.ts';
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
  id: [z.uuid(), ({ id }) => id],
  provider_config_key: [z.string(), ({ integration }) => integration],
  disposition: [z.enum(dispositions), ({ disposition }) => disposition],
  reason: [z.string().nullable(), ({ reason }) => reason],
  status: [z.int().nullable(), ({ status }) => status],
  type: [z.string().nullable(), ({ type }) => type],
  provider_delivery_id: [z.string().nullable(), (one) => one.providerDeliveryId],
  connection_ids: [z.array(z.string()), ({ connections }) => connections],
  run_ids: [z.array(z.string()), ({ runIds }) => runIds],
  headers: [z.record(z.string(), z.string()), ({ headers }) => headers],
  refused_count: [
    z.int().nullable().meta({
      description:
        'Of `refused`, which is no single webhook: number of unverified webhooks that were not kept in the hour, as of its first, 10th, 100th and so on.',
    }),
    ({ refusedCount }) => refusedCount,
  ],
  received_at: [timestamp, ({ receivedAt }) => isoMicros(receivedAt)],
  decided_at: [timestamp.nullable(), ({ decidedAt }) => isoMicrosOrNull(decidedAt)],
});

export const presentIncoming = webhook.of;

const incoming = webhook.schema.meta({ id: 'WebhookDelivery' });

export const incomingShape = data(incoming);
export const incomingsShape = z.strictObject({
  data: z.array(incoming),
  next_cursor: z.string().nullable(),
});
export const incomingWithBodyShape = data(webhook.schema.extend({ body: z.string().nullable() }));

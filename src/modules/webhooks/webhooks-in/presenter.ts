import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMicros } from '../../../kernel/time.ts';
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

const shown = {
  id: z.uuid(),
  provider_config_key: z.string(),
  disposition: z.enum(dispositions),
  reason: z.string().nullable(),
  status: z.int().nullable(),
  type: z.string().nullable(),
  provider_delivery_id: z.string().nullable(),
  connection_ids: z.array(z.string()),
  run_ids: z.array(z.string()),
  headers: z.record(z.string(), z.string()),
  refused_count: z.int().nullable().meta({
    description:
      'Of `refused`, which is no single webhook: number of unverified webhooks that were not kept in the hour, as of its first, 10th, 100th and so on.',
  }),
  received_at: timestamp,
  decided_at: timestamp.nullable(),
};

const incoming = z.strictObject(shown).meta({ id: 'WebhookDelivery' });

export const incomingShape = data(incoming);
export const incomingsShape = z.strictObject({
  data: z.array(incoming),
  next_cursor: z.string().nullable(),
});
export const incomingWithBodyShape = data(
  z.strictObject({ ...shown, body: z.string().nullable() }),
);

/** A webhook of a provider, without its body. */
export function presentIncoming(webhook: IncomingWebhook) {
  const { decidedAt } = webhook;
  return {
    id: webhook.id,
    provider_config_key: webhook.integration,
    disposition: webhook.disposition,
    reason: webhook.reason,
    status: webhook.status,
    type: webhook.type,
    provider_delivery_id: webhook.providerDeliveryId,
    connection_ids: webhook.connections,
    run_ids: webhook.runIds,
    headers: webhook.headers,
    refused_count: webhook.refusedCount,
    received_at: isoMicros(webhook.receivedAt),
    decided_at: decidedAt === null ? null : isoMicros(decidedAt),
  };
}

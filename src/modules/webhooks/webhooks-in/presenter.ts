import { isoMicros } from '../../../kernel/time.ts';
import type { IncomingWebhook } from './incoming-store.ts';

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

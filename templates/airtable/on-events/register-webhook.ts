import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';
import type { AirtableApiWebhook } from '../webhook.js';

const onEvent = createOnEvent({
  description:
    'Registers a webhook of the records of the base; the sync webhooks refreshes it, since Airtable ends it after 7 days',
  version: '1.0.2',
  event: 'post-connection-creation',
  metadata: z.object({
    base: z.string(),
    webhookId: z.string().optional(),
    webhooks: z.record(z.string(), z.object({ macSecretBase64: z.string() })).optional(),
  }),

  exec: async (svc) => {
    const { base } = await svc.getMetadata();
    const endpoint = `/v0/bases/${base}/webhooks`;
    const notificationUrl = await webhookAddress(svc);
    const { data } = await svc.post<{ id: string; macSecretBase64: string }>({
      endpoint,
      data: {
        notificationUrl,
        specification: { options: { filters: { dataTypes: ['tableData'] } } },
      },
      retries: 3,
    });
    const { id: webhookId, macSecretBase64 } = data;
    // The rules of the provider find the connection by the id of the webhook.
    await svc.updateMetadata({ webhookId, webhooks: { [webhookId]: { macSecretBase64 } } });
    // An attempt whose response was lost has left a webhook with another secret.
    const { data: list } = await svc.get<{ webhooks: AirtableApiWebhook[] }>({
      endpoint,
      retries: 3,
    });
    for (const webhook of list.webhooks) {
      if (webhook.notificationUrl !== notificationUrl || webhook.id === webhookId) continue;
      await svc.delete({ endpoint: `${endpoint}/${webhook.id}`, retries: 3 });
    }
  },
});

export default onEvent;

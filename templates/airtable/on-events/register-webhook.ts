import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description:
    'Registers a webhook of the records of the base; the sync webhooks refreshes it, since Airtable ends it after 7 days',
  version: '1.0.1',
  event: 'post-connection-creation',
  metadata: z.object({
    base: z.string(),
    webhookId: z.string().optional(),
    webhooks: z.record(z.string(), z.object({ macSecretBase64: z.string() })).optional(),
  }),

  exec: async (svc) => {
    const { base } = await svc.getMetadata();
    const { data } = await svc.post<{ id: string; macSecretBase64: string }>({
      endpoint: `/v0/bases/${base}/webhooks`,
      data: {
        notificationUrl: await webhookAddress(svc),
        specification: { options: { filters: { dataTypes: ['tableData'] } } },
      },
      retries: 3,
    });
    const { id: webhookId, macSecretBase64 } = data;
    // The rules of the provider find the connection by the id of the webhook.
    await svc.updateMetadata({ webhookId, webhooks: { [webhookId]: { macSecretBase64 } } });
  },
});

export default onEvent;

import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of tickets',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional(), webhookSecret: z.string().optional() }),

  exec: async (svc) => {
    const { data } = await svc.post<{ webhook: { id: string } }>({
      endpoint: '/api/v2/webhooks',
      data: {
        webhook: {
          name: `svc ${svc.connectionId}`,
          status: 'active',
          endpoint: await webhookAddress(svc),
          http_method: 'POST',
          request_format: 'json',
          subscriptions: [
            'zen:event-type:ticket.created',
            'zen:event-type:ticket.status_changed',
            'zen:event-type:ticket.soft_deleted',
          ],
        },
      },
      retries: 3,
    });
    const webhookId = data.webhook.id;
    await svc.updateMetadata({ webhookId });
    const { data: signing } = await svc.get<{ signing_secret: { secret: string } }>({
      endpoint: `/api/v2/webhooks/${webhookId}/signing_secret`,
      retries: 3,
    });
    await svc.updateMetadata({ webhookSecret: signing.signing_secret.secret });
  },
});

export default onEvent;

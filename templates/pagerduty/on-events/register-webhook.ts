import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of the incidents of the account',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional(), webhookSecret: z.string().optional() }),

  exec: async (svc) => {
    const { data } = await svc.post<{
      webhook_subscription: { id: string; delivery_method: { secret: string } };
    }>({
      endpoint: '/webhook_subscriptions',
      data: {
        webhook_subscription: {
          type: 'webhook_subscription',
          active: true,
          delivery_method: {
            type: 'http_delivery_method',
            url: await webhookAddress(svc),
            custom_headers: [{ name: 'x-svc-connection-id', value: svc.connectionId }],
          },
          events: ['incident.triggered', 'incident.acknowledged', 'incident.resolved'],
          filter: { type: 'account_reference' },
        },
      },
      retries: 3,
    });
    const { id: webhookId, delivery_method: method } = data.webhook_subscription;
    await svc.updateMetadata({ webhookId, webhookSecret: method.secret });
  },
});

export default onEvent;

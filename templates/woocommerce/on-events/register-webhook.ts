import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of orders that change',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional(), webhookSecret: z.string().optional() }),

  exec: async (svc) => {
    const webhookSecret = newSecret();
    await svc.updateMetadata({ webhookSecret });
    const { data } = await svc.post<{ id: number }>({
      endpoint: '/webhooks',
      data: {
        name: 'svc',
        topic: 'order.updated',
        delivery_url: await webhookAddress(svc),
        secret: webhookSecret,
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: String(data.id) });
  },
});

export default onEvent;

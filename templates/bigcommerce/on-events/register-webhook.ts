import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of orders',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional() }),

  exec: async (svc) => {
    const { data } = await svc.post<{ data: { id: number } }>({
      endpoint: '/v3/hooks',
      data: { scope: 'store/order/*', destination: await webhookAddress(svc), is_active: true },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: String(data.data.id) });
  },
});

export default onEvent;

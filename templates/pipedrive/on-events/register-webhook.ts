import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of every object',
  version: '1.0.2',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional(), webhookSecret: z.string().optional() }),

  exec: async (svc) => {
    const password = newSecret();
    await svc.updateMetadata({ webhookSecret: `svc:${password}` });
    const { data } = await svc.post<{ data: { id: number } }>({
      endpoint: '/api/v1/webhooks',
      data: {
        name: 'svc',
        subscription_url: await webhookAddress(svc),
        event_action: '*',
        event_object: '*',
        http_auth_user: 'svc',
        http_auth_password: password,
        version: '2.0',
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: String(data.data.id) });
  },
});

export default onEvent;

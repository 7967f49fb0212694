import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of the responses of the form',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({
    form: z.string(),
    webhookId: z.string().optional(),
    webhookSecret: z.string().optional(),
  }),

  exec: async (svc) => {
    const { form } = await svc.getMetadata();
    const webhookSecret = newSecret();
    const webhookId = `svc-${crypto.randomUUID()}`;
    await svc.updateMetadata({ webhookSecret });
    await svc.put({
      endpoint: `/forms/${form}/webhooks/${webhookId}`,
      data: {
        url: await webhookAddress(svc),
        enabled: true,
        secret: webhookSecret,
        verify_ssl: true,
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId });
  },
});

export default onEvent;

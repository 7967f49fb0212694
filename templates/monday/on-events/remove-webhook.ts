import { createOnEvent } from 'svc';
import { z } from 'zod';
import { isGone } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Removes the webhook of a connection that is deleted',
  version: '1.0.0',
  event: 'pre-connection-deletion',
  metadata: z.object({
    board: z.string(),
    webhookId: z.string().optional(),
    webhookToken: z.string().optional(),
  }),

  exec: async (svc) => {
    const { webhookId } = await svc.getMetadata();
    if (webhookId === undefined) return;
    try {
      await svc.post({
        endpoint: '/v2',
        data: {
          query: 'mutation ($id: ID!) { delete_webhook(id: $id) { id } }',
          variables: { id: webhookId },
        },
        retries: 3,
      });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  },
});

export default onEvent;

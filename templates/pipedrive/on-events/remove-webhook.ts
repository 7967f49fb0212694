import { createOnEvent } from 'svc';
import { z } from 'zod';
import { isGone } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Removes the webhook of a connection that is deleted',
  version: '1.0.1',
  event: 'pre-connection-deletion',
  metadata: z.object({ webhookId: z.string().optional(), webhookSecret: z.string().optional() }),

  exec: async (svc) => {
    const { webhookId } = await svc.getMetadata();
    if (webhookId === undefined) return;
    try {
      await svc.delete({ endpoint: `/api/v1/webhooks/${webhookId}`, retries: 3 });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  },
});

export default onEvent;

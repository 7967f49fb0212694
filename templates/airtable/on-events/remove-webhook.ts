import { createOnEvent } from 'svc';
import { z } from 'zod';
import { isGone } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Removes the webhook of a connection that is deleted',
  version: '1.0.0',
  event: 'pre-connection-deletion',
  metadata: z.object({
    base: z.string(),
    webhookId: z.string().optional(),
    webhooks: z.record(z.string(), z.object({ macSecretBase64: z.string() })).optional(),
  }),

  exec: async (svc) => {
    const { webhookId, base } = await svc.getMetadata();
    if (webhookId === undefined) return;
    try {
      await svc.delete({ endpoint: `/v0/bases/${base}/webhooks/${webhookId}`, retries: 3 });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  },
});

export default onEvent;

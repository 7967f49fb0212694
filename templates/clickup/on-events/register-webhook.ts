import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of the tasks of the workspace',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({
    workspace: z.string(),
    webhookId: z.string().optional(),
    webhookSecret: z.string().optional(),
  }),

  exec: async (svc) => {
    const { workspace } = await svc.getMetadata();
    const { data } = await svc.post<{ webhook: { id: string; secret: string } }>({
      endpoint: `/team/${workspace}/webhook`,
      data: {
        endpoint: await webhookAddress(svc),
        events: ['taskCreated', 'taskUpdated', 'taskDeleted'],
      },
      retries: 3,
    });
    const { id: webhookId, secret: webhookSecret } = data.webhook;
    await svc.updateMetadata({ webhookId, webhookSecret });
  },
});

export default onEvent;

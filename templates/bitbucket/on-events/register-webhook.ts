import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description:
    'Registers a webhook of pushes, and of pull requests that are opened, changed, merged or declined',
  version: '1.1.0',
  event: 'post-connection-creation',
  metadata: z.object({
    repository: z.string(),
    webhookId: z.string().optional(),
    webhookSecret: z.string().optional(),
  }),

  exec: async (svc) => {
    const { repository } = await svc.getMetadata();
    const webhookSecret = newSecret();
    await svc.updateMetadata({ webhookSecret });
    const { data } = await svc.post<{ uuid: string }>({
      endpoint: `/2.0/repositories/${repository}/hooks`,
      data: {
        description: 'svc',
        url: await webhookAddress(svc),
        active: true,
        secret: webhookSecret,
        events: [
          'repo:push',
          'pullrequest:created',
          'pullrequest:updated',
          // Merged, and declined.
          'pullrequest:fulfilled',
          'pullrequest:rejected',
        ],
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: data.uuid });
  },
});

export default onEvent;

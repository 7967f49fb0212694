import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of issues, pull requests and pushes of the repository',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({
    repository: z.string(),
    webhookId: z.string().optional(),
    webhookSecret: z.string().optional(),
  }),

  exec: async (svc) => {
    const { repository } = await svc.getMetadata();
    const webhookSecret = newSecret();
    // Before the webhook exists: its ping is signed already.
    await svc.updateMetadata({ webhookSecret });
    const { data } = await svc.post<{ id: number }>({
      endpoint: `/repos/${repository}/hooks`,
      data: {
        name: 'web',
        active: true,
        events: ['issues', 'pull_request', 'push'],
        config: { url: await webhookAddress(svc), content_type: 'json', secret: webhookSecret },
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: String(data.id) });
  },
});

export default onEvent;

import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description:
    'Registers a webhook of issues that are not confidential, merge requests and pushes of the project',
  version: '1.0.1',
  event: 'post-connection-creation',
  metadata: z.object({
    project: z.string(),
    webhookId: z.string().optional(),
    webhookSecret: z.string().optional(),
  }),

  exec: async (svc) => {
    const { project } = await svc.getMetadata();
    const webhookSecret = newSecret();
    await svc.updateMetadata({ webhookSecret });
    const { data } = await svc.post<{ id: number }>({
      endpoint: `/api/v4/projects/${encodeURIComponent(project)}/hooks`,
      data: {
        url: await webhookAddress(svc),
        token: webhookSecret,
        issues_events: true,
        merge_requests_events: true,
        push_events: true,
        enable_ssl_verification: true,
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: String(data.id) });
  },
});

export default onEvent;

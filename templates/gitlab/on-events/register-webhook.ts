import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

interface GitlabHook {
  id: number;
  url: string;
}

const onEvent = createOnEvent({
  description:
    'Registers a webhook of issues that are not confidential, merge requests and pushes of the project',
  version: '1.0.2',
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
    const endpoint = `/api/v4/projects/${encodeURIComponent(project)}/hooks`;
    const address = await webhookAddress(svc);
    const { data } = await svc.post<{ id: number }>({
      endpoint,
      data: {
        url: address,
        token: webhookSecret,
        issues_events: true,
        merge_requests_events: true,
        push_events: true,
        enable_ssl_verification: true,
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: String(data.id) });
    // An attempt whose response was lost has left a webhook.
    const params = { per_page: 100 };
    const { data: hooks } = await svc.get<GitlabHook[]>({ endpoint, params, retries: 3 });
    for (const { id } of hooks.filter(({ id, url }) => url === address && id !== data.id))
      await svc.delete({ endpoint: `${endpoint}/${id}`, retries: 3 });
  },
});

export default onEvent;

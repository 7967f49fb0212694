import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

interface GithubHook {
  id: number;
  config: { url?: string };
}

const unprocessable = 422;

const onEvent = createOnEvent({
  description: 'Registers a webhook of issues, pull requests and pushes of the repository',
  version: '1.0.1',
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
    const endpoint = `/repos/${repository}/hooks`;
    const url = await webhookAddress(svc);
    const hook = {
      active: true,
      events: ['issues', 'pull_request', 'push'],
      config: { url, content_type: 'json', secret: webhookSecret },
    };
    const data = { name: 'web', ...hook };
    try {
      const { data: created } = await svc.post<GithubHook>({ endpoint, data, retries: 3 });
      await svc.updateMetadata({ webhookId: String(created.id) });
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== unprocessable) throw error;
      // GitHub takes an address once: an attempt whose response was lost has left its webhook.
      const params = { per_page: 100 };
      const { data: hooks } = await svc.get<GithubHook[]>({ endpoint, params, retries: 3 });
      const own = hooks.find(({ config }) => config.url === url);
      if (own === undefined) throw error;
      await svc.patch({ endpoint: `${endpoint}/${own.id}`, data: hook, retries: 3 });
      await svc.updateMetadata({ webhookId: String(own.id) });
    }
  },
});

export default onEvent;

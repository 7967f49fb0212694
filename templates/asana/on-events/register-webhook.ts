import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description:
    'Registers a webhook of the project: its own changes, and those of its tasks and their stories',
  version: '1.0.1',
  event: 'post-connection-creation',
  metadata: z.object({
    project: z.string(),
    webhookId: z.string().optional(),
    webhookSecret: z.string().optional(),
  }),

  exec: async (svc) => {
    const { project } = await svc.getMetadata();
    // Meanwhile Asana asks the address, and the gateway repeats its secret.
    const { data } = await svc.post<{ data: { gid: string }; 'X-Hook-Secret': string }>({
      endpoint: '/webhooks',
      data: { data: { resource: project, target: await webhookAddress(svc) } },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: data.data.gid, webhookSecret: data['X-Hook-Secret'] });
  },
});

export default onEvent;

import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description:
    'Registers a webhook of leads and opportunities that are created, changed or deleted',
  version: '1.0.1',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional(), webhookSecret: z.string().optional() }),

  exec: async (svc) => {
    const actions = ['created', 'updated', 'deleted'];
    const { data } = await svc.post<{ id: string; signature_key: string }>({
      endpoint: '/webhook/',
      data: {
        url: await webhookAddress(svc),
        events: ['lead', 'opportunity'].flatMap((object_type) =>
          actions.map((action) => ({ object_type, action })),
        ),
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: data.id, webhookSecret: data.signature_key });
  },
});

export default onEvent;

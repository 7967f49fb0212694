import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of the board',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ board: z.string(), webhookId: z.string().optional() }),

  exec: async (svc) => {
    const { board } = await svc.getMetadata();
    const { data } = await svc.post<{ id: string }>({
      endpoint: '/1/webhooks/',
      params: { callbackURL: await webhookAddress(svc), idModel: board },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: data.id });
  },
});

export default onEvent;

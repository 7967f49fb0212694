import { createOnEvent } from 'svc';
import { z } from 'zod';
import { subscribe } from '../webhook.js';

const onEvent = createOnEvent({
  description: 'Subscribes to webhooks, and keeps the secret that signs them',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ webhookSecret: z.string() }),

  exec: async (svc) => {
    await svc.updateMetadata({ webhookSecret: await subscribe(svc) });
  },
});

export default onEvent;

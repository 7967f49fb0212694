import { createOnEvent } from 'svc';
import { z } from 'zod';

const onEvent = createOnEvent({
  description: 'Keeps the id of the portal in the metadata of a new connection',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ portalId: z.number() }),

  exec: async (svc) => {
    const { data } = await svc.get<{ portalId: number }>({
      endpoint: '/account-info/v3/details',
      retries: 3,
    });
    await svc.updateMetadata({ portalId: data.portalId });
  },
});

export default onEvent;

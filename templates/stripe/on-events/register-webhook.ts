import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of invoices and charges of the account',
  version: '1.0.1',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional(), webhookSecret: z.string().optional() }),

  exec: async (svc) => {
    const { data } = await svc.post<{ id: string; secret: string }>({
      endpoint: '/v1/webhook_endpoints',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        // A repeated attempt registers no second webhook.
        'idempotency-key': crypto.randomUUID(),
      },
      data: new URLSearchParams([
        ['url', await webhookAddress(svc)],
        ['enabled_events[0]', 'charge.succeeded'],
        ['enabled_events[1]', 'charge.refunded'],
        ['enabled_events[2]', 'invoice.paid'],
      ]).toString(),
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: data.id, webhookSecret: data.secret });
  },
});

export default onEvent;

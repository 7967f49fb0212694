import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';

const onEvent = createOnEvent({
  description: 'Registers a webhook of the items of the board',
  version: '1.0.1',
  event: 'post-connection-creation',
  metadata: z.object({
    board: z.string(),
    webhookId: z.string().optional(),
    webhookToken: z.string().optional(),
  }),

  exec: async (svc) => {
    const { board } = await svc.getMetadata();
    const webhookToken = newSecret();
    // monday.com asks the address while it creates the webhook.
    await svc.updateMetadata({ webhookToken });
    const { data } = await svc.post<{ data: { create_webhook: { id: string } } }>({
      endpoint: '/v2',
      // A repeated attempt registers no second webhook.
      headers: { 'idempotency-key': crypto.randomUUID() },
      data: {
        query:
          'mutation ($board: ID!, $url: String!) { create_webhook(board_id: $board, url: $url, event: change_column_value) { id } }',
        variables: { board, url: `${await webhookAddress(svc)}&svcToken=${webhookToken}` },
      },
      retries: 3,
    });
    await svc.updateMetadata({ webhookId: data.data.create_webhook.id });
  },
});

export default onEvent;

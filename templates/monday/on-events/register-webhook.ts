import { createOnEvent } from 'svc';
import { z } from 'zod';
import { newSecret, webhookAddress } from '../../shared/webhooks.js';
import { request } from '../graphql.js';

const query =
  'mutation RegisterWebhook($board: ID!, $url: String!) { create_webhook(board_id: $board, url: $url, event: change_column_value) { id } }';

const onEvent = createOnEvent({
  description: 'Registers a webhook of the values that change on the board',
  version: '1.0.2',
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
    const url = `${await webhookAddress(svc)}&svcToken=${webhookToken}`;
    const { create_webhook: webhook } = await request<{ create_webhook: { id: string } | null }>(
      svc,
      {
        name: 'RegisterWebhook',
        query,
        variables: { board, url },
        retries: 3,
        // A repeated attempt registers no second webhook.
        idempotencyKey: crypto.randomUUID(),
      },
    );
    if (webhook === null) throw new Error('monday.com created no webhook');
    await svc.updateMetadata({ webhookId: webhook.id });
  },
});

export default onEvent;

import { createOnEvent } from 'svc';
import { z } from 'zod';
import { request } from '../graphql.js';

const removal = 'mutation RemoveWebhook($id: ID!) { delete_webhook(id: $id) { id } }';
const list = 'query ListWebhooks($board: ID!) { webhooks(board_id: $board) { id } }';

const onEvent = createOnEvent({
  description: 'Removes the webhook of a connection that is deleted',
  version: '1.0.1',
  event: 'pre-connection-deletion',
  metadata: z.object({
    board: z.string(),
    webhookId: z.string().optional(),
    webhookToken: z.string().optional(),
  }),

  exec: async (svc) => {
    const { webhookId, board } = await svc.getMetadata();
    if (webhookId === undefined) return;
    const [id, retries] = [webhookId, 3];
    try {
      await request(svc, { name: 'RemoveWebhook', query: removal, variables: { id }, retries });
    } catch (error) {
      // No error of an unknown webhook is documented: it is gone when the board does not list it.
      const { webhooks } = await request<{ webhooks: ({ id: string } | null)[] | null }>(svc, {
        name: 'ListWebhooks',
        query: list,
        variables: { board },
        retries,
      });
      if (webhooks === null || webhooks.some((one) => one?.id === id)) throw error;
    }
  },
});

export default onEvent;

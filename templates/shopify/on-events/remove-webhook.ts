import { createOnEvent } from 'svc';
import { z } from 'zod';
import { dataOf, endpoint } from '../graphql.js';

const mutation =
  'mutation RemoveWebhook($id: ID!) { webhookSubscriptionDelete(id: $id) { deletedWebhookSubscriptionId userErrors { field message } } }';

interface Removal {
  webhookSubscriptionDelete: { deletedWebhookSubscriptionId: string | null };
}

const onEvent = createOnEvent({
  description: 'Removes the webhook of a connection that is deleted',
  version: '1.0.0',
  event: 'pre-connection-deletion',
  metadata: z.object({ webhookId: z.string().optional() }),

  exec: async (svc) => {
    const { webhookId } = await svc.getMetadata();
    if (webhookId === undefined) return;
    const { data } = await svc.post<{ data?: Removal; errors?: { message: string }[] }>({
      endpoint,
      data: { query: mutation, variables: { id: webhookId } },
      retries: 3,
    });
    // An id that Shopify does not know is one of the `userErrors`: there is nothing to remove.
    dataOf(data);
  },
});

export default onEvent;

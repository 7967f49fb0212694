import { createOnEvent } from 'svc';
import { z } from 'zod';
import { dataOf, endpoint } from '../graphql.js';

const mutation =
  'mutation RemoveWebhook($id: ID!) { webhookSubscriptionDelete(id: $id) { deletedWebhookSubscriptionId userErrors { field message } } }';

interface Removal {
  webhookSubscriptionDelete: {
    deletedWebhookSubscriptionId: string | null;
    userErrors: { field: string[] | null; message: string }[];
  };
}

const onEvent = createOnEvent({
  description: 'Removes the webhook of a connection that is deleted',
  version: '1.0.1',
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
    // These errors have no code. Of an id that Shopify does not know there is nothing to remove.
    const problems = dataOf(data)
      .webhookSubscriptionDelete.userErrors.map(({ message }) => message)
      .filter((message) => message !== 'Webhook subscription does not exist');
    if (problems.length > 0) throw new Error(problems.join(' '));
  },
});

export default onEvent;

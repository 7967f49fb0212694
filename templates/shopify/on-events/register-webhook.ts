import { createOnEvent } from 'svc';
import { z } from 'zod';
import { webhookAddress } from '../../shared/webhooks.js';
import { dataOf, endpoint } from '../graphql.js';

const mutation =
  'mutation RegisterWebhook($input: WebhookSubscriptionInput!) { webhookSubscriptionCreate(topic: ORDERS_UPDATED, webhookSubscription: $input) { webhookSubscription { id } userErrors { field message } } }';

interface Registration {
  webhookSubscriptionCreate: {
    webhookSubscription: { id: string } | null;
    userErrors: { field: string[] | null; message: string }[];
  };
}

const onEvent = createOnEvent({
  description: 'Registers a webhook of orders that change; the secret of the app signs it',
  version: '1.0.0',
  event: 'post-connection-creation',
  metadata: z.object({ webhookId: z.string().optional() }),

  exec: async (svc) => {
    const { data } = await svc.post<{ data?: Registration; errors?: { message: string }[] }>({
      endpoint,
      data: { query: mutation, variables: { input: { uri: await webhookAddress(svc) } } },
      retries: 3,
    });
    const { webhookSubscription, userErrors } = dataOf(data).webhookSubscriptionCreate;
    if (webhookSubscription === null) {
      throw new Error(userErrors.map((problem) => problem.message).join(' '));
    }
    await svc.updateMetadata({ webhookId: webhookSubscription.id });
  },
});

export default onEvent;

import { createSync } from 'svc';
import { z } from 'zod';
import { AirtableWebhook, webhookOf, type AirtableApiWebhook } from '../webhook.js';

const sync = createSync({
  description:
    'Webhooks of the base; refreshes the registered one, which Airtable ends 7 days after its last refresh',
  version: '1.0.0',
  frequency: 'every day',
  autoStart: false,
  scopes: ['webhook:manage'],
  models: { AirtableWebhook },
  /** `webhookId` of `register-webhook`. */
  metadata: z.object({ base: z.string(), webhookId: z.string().optional() }),

  exec: async (svc) => {
    const { base, webhookId } = await svc.getMetadata();
    const endpoint = `/v0/bases/${base}/webhooks`;
    await svc.trackDeletesStart('AirtableWebhook');
    // Of a base there are at most 10.
    const { data } = await svc.get<{ webhooks: AirtableApiWebhook[] }>({ endpoint, retries: 5 });
    const own = data.webhooks.find(({ id }) => id === webhookId);
    // One that has ended cannot be refreshed; one without a time does not end.
    if (own?.isHookEnabled === true && typeof own.expirationTime === 'string') {
      const refreshed = await svc.post<{ expirationTime: string | null }>({
        endpoint: `${endpoint}/${own.id}/refresh`,
        retries: 5,
      });
      own.expirationTime = refreshed.data.expirationTime;
    }
    await svc.batchSave(
      data.webhooks.map((webhook) => webhookOf(webhook, base)),
      'AirtableWebhook',
    );
    await svc.trackDeletesEnd('AirtableWebhook');
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Contact, contactOf, type SentContact } from '../contact.js';
import { subscribe } from '../webhook.js';

interface Page {
  readonly data: SentContact[];
  readonly next: string | null;
}

type Webhook =
  | { readonly type: 'contact.updated'; readonly data: SentContact }
  | { readonly type: 'contact.deleted'; readonly data: { readonly id: string } };

const sync = createSync({
  description: 'All contacts, page by page; webhooks bring changes at once',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Contact },
  /** The last contact that was saved: an interrupted run continues after it. */
  checkpoint: z.object({ after: z.string() }),
  webhookSubscriptions: ['contact.updated', 'contact.deleted'],

  exec: async (svc) => {
    // The provider forgets its subscribers when the gateway stops.
    await subscribe(svc);
    await svc.trackDeletesStart('Contact');
    let after = (await svc.getCheckpoint())?.after ?? null;
    do {
      const { data: page } = await svc.get<Page>({
        endpoint: '/contacts',
        params: { limit: 100, ...(after === null ? {} : { after }) },
        retries: 3,
      });
      await svc.batchSave(page.data.map(contactOf), 'Contact');
      after = page.next;
      if (after !== null) await svc.saveCheckpoint({ after });
    } while (after !== null);
    const { deletedKeys } = await svc.trackDeletesEnd('Contact');
    await svc.log(`${deletedKeys.length} contacts are gone`);
    await svc.clearCheckpoint();
  },

  onWebhook: async (svc, webhook: Webhook) => {
    if (webhook.type === 'contact.deleted') {
      await svc.batchDelete([{ id: webhook.data.id }], 'Contact');
      return;
    }
    await svc.batchSave([contactOf(webhook.data)], 'Contact');
  },
});

export default sync;

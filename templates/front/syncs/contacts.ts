import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { contactOf, type FrontContact } from '../contact.js';

const sync = createSync({
  description:
    'Contacts that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['contacts:read'],
  models: { Contact },
  checkpoint: z.object({
    /** Of the changes that this run asks for, in seconds since the epoch; 0: all. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor(nextSince() / 1000);
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === 0) await svc.trackDeletesStart('Contact');
    // By creation: a contact that changes meanwhile moves no other to a page that was read.
    const first = {
      endpoint: '/contacts',
      params: {
        limit: 100,
        sort_by: 'created_at',
        sort_order: 'asc',
        'q[updated_after]': since === 0 ? undefined : since,
      },
    };
    const pages = svc.paginate<FrontContact>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        on_page: async ({ nextPageParam: page }) => {
          if (page === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, page: String(page) });
        },
      },
      retries: 5,
    });
    for await (const contacts of pages) await svc.batchSave(contacts.map(contactOf), 'Contact');
    if (since === 0) await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

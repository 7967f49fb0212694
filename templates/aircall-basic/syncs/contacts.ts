import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { nextSince } from '../../shared/since.js';
import { changedContacts } from '../changes.js';
import { contactOf, type AircallContact } from '../contact.js';
import { createdFrom } from '../windows.js';

const sync = createSync({
  description:
    'Shared contacts that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Contact },
  checkpoint: z.object({
    /** Of the changes that this run asks for, in seconds since the epoch; 0: all. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** Of a run over all: contacts before it are saved. */
    from: z.number().optional(),
    /** Of a run over the changes: the page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor(nextSince() / 1000);
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === 0) await svc.trackDeletesStart('Contact');
    let following = next;
    const pages =
      since === 0
        ? createdFrom<AircallContact>(svc, {
            endpoint: '/v1/contacts',
            params: { order_by: 'created_at' },
            path: 'contacts',
            from: checkpoint?.from ?? 0,
            createdAt: (contact) => contact.created_at,
            savePosition: (from) => svc.saveCheckpoint({ since, nextSince: next, from }),
          })
        : changedContacts(svc, {
            since,
            page: checkpoint?.page,
            savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
            onCut: () => {
              // More was changed than the list shows: the next run reads all.
              following = 0;
            },
          });
    for await (const contacts of pages) await svc.batchSave(contacts.map(contactOf), 'Contact');
    if (since === 0) await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: following });
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { nextSince } from '../../shared/since.js';
import { contactOf, type IntercomContact } from '../contact.js';
import { changedDocuments } from '../search.js';

const sync = createSync({
  description:
    'Users and leads that were changed since the last run; those that were merged into others or deleted are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Contact },
  checkpoint: z.object({
    /** Of the changes that this run asks for, in seconds since the epoch; 0: all. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** The page at which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor(nextSince() / 1000);
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === 0) await svc.trackDeletesStart('Contact');
    const pages = changedDocuments<IntercomContact>(svc, {
      type: 'contacts',
      path: 'data',
      since,
      cursor: checkpoint?.cursor,
      onPage: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const contacts of pages) await svc.batchSave(contacts.map(contactOf), 'Contact');
    if (since === 0) await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

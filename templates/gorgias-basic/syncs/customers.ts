import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { changedSince } from '../changes.js';
import { contactOf, type GorgiasCustomer } from '../customer.js';

const sync = createSync({
  description:
    'Customers that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Contact },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Contact');
    const pages = changedSince<GorgiasCustomer>(svc, {
      endpoint: '/customers',
      params: {},
      since,
      cursor: checkpoint?.cursor,
      savePosition: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const customers of pages) await svc.batchSave(customers.map(contactOf), 'Contact');
    if (since === '') await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

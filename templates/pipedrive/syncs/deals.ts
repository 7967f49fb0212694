import { createSync } from 'svc';
import { z } from 'zod';
import { Deal } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { changedObjects } from '../changes.js';
import { dealOf, type PipedriveDeal } from '../deal.js';

const sync = createSync({
  description: 'Deals that are not archived and were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['deals:read'],
  models: { Deal },
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
    const pages = changedObjects<PipedriveDeal>(svc, {
      type: 'deals',
      since,
      cursor: checkpoint?.cursor,
      onPage: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const deals of pages) await svc.batchSave(deals.map(dealOf), 'Deal');
    // Those of the last 30 days, all of them: nothing says that a deletion is a change of the deal.
    const deletedPages = svc.paginate<{ id: number }>({
      endpoint: '/api/v2/deals',
      params: { status: 'deleted', sort_by: 'id', sort_direction: 'asc' },
      paginate: { limit: 500 },
      retries: 5,
    });
    for await (const deals of deletedPages) {
      await svc.batchDelete(
        deals.map(({ id }) => ({ id: String(id) })),
        'Deal',
      );
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync, type SvcSync } from 'svc';
import { z } from 'zod';
import { Deal } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { changedObjects } from '../changes.js';
import { dealOf, type PipedriveDeal } from '../deal.js';

const models = { Deal };

const sync = createSync({
  description: 'Deals that were changed since the last run; deleted and archived ones are deleted',
  version: '1.0.2',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['deals:read'],
  models,
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
    // A run from the start finds what left the lists before.
    if (since === '') await svc.trackDeletesStart('Deal');
    const pages = changedObjects<PipedriveDeal>(svc, {
      type: 'deals',
      since,
      cursor: checkpoint?.cursor,
      onPage: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const deals of pages) await svc.batchSave(deals.map(dealOf), 'Deal');
    if (since !== '') {
      // Archived deals leave the list of deals; to archive one is to update it.
      await deleteListed(svc, '/api/v2/deals/archived', { updated_since: since });
      // Those of the last 30 days, all of them: nothing says that a deletion is a change of the deal.
      await deleteListed(svc, '/api/v2/deals', { status: 'deleted' });
    }
    if (since === '') await svc.trackDeletesEnd('Deal');
    await svc.saveCheckpoint({ since: next });
  },
});

async function deleteListed(
  svc: Pick<SvcSync<typeof models>, 'batchDelete' | 'paginate'>,
  endpoint: string,
  filter: Record<string, string>,
): Promise<void> {
  const pages = svc.paginate<{ id: number }>({
    endpoint,
    params: { ...filter, sort_by: 'id', sort_direction: 'asc' },
    paginate: { limit: 500 },
    retries: 5,
  });
  for await (const deals of pages) {
    await svc.batchDelete(
      deals.map(({ id }) => ({ id: String(id) })),
      'Deal',
    );
  }
}

export default sync;

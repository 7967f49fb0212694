import { createSync } from 'svc';
import { z } from 'zod';
import { Company } from '../../models/crm.js';
import { requestOf } from '../../shared/links.js';
import { companyOf, type FrontAccount } from '../account.js';

const sync = createSync({
  description: 'All accounts; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['accounts:read'],
  models: { Company },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Company');
    const page = (await svc.getCheckpoint())?.page;
    const first = {
      endpoint: '/accounts',
      params: { limit: 100, sort_by: 'created_at', sort_order: 'asc' },
    };
    const pages = svc.paginate<FrontAccount>({
      ...(page === undefined ? first : requestOf(page)),
      paginate: {
        on_page: async ({ nextPageParam: next }) => {
          if (next !== undefined) await svc.saveCheckpoint({ page: String(next) });
        },
      },
      retries: 5,
    });
    for await (const accounts of pages) await svc.batchSave(accounts.map(companyOf), 'Company');
    await svc.trackDeletesEnd('Company');
    await svc.clearCheckpoint();
  },
});

export default sync;

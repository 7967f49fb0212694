import { createSync } from 'svc';
import { z } from 'zod';
import { Customer } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { customerOf, type SquareCustomer } from '../customer.js';
import { searchedFrom } from '../search.js';

const sync = createSync({
  description:
    'Customers that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['CUSTOMERS_READ'],
  models: { Customer },
  checkpoint: z.object({
    /** Of the customers that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The search has no deleted customers: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Customer');
    const pages = searchedFrom<SquareCustomer>(svc, checkpoint?.cursor, {
      endpoint: '/v2/customers/search',
      path: 'customers',
      data: {
        query: {
          ...(since === '' ? {} : { filter: { updated_at: { start_at: since } } }),
          sort: { field: 'CREATED_AT', order: 'ASC' },
        },
        limit: 100,
      },
    });
    for await (const { page, pageToken: cursor } of pages) {
      await svc.batchSave(page.rows.map(customerOf), 'Customer');
      if (cursor !== '') await svc.saveCheckpoint({ since, nextSince: next, cursor });
    }
    if (since === '') await svc.trackDeletesEnd('Customer');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { Customer } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { customerOf, customersQuery, type ShopifyCustomer } from '../customer.js';
import { changed, Position } from '../graphql.js';

const sync = createSync({
  description:
    'Customers that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['read_customers'],
  models: { Customer },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted customers: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Customer');
    // The filter matches whole days: a run lists again what has changed on the day of the one before.
    const pages = changed<ShopifyCustomer>(svc, {
      field: 'customers',
      query: customersQuery,
      // A query costs 1,000 points at most, of which each object in it is one.
      first: 100,
      since,
      cursor: checkpoint?.cursor,
      savePosition: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const customers of pages) await svc.batchSave(customers.map(customerOf), 'Customer');
    if (since === '') await svc.trackDeletesEnd('Customer');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

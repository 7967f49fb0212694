import { createSync } from 'svc';
import { Customer } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { customerOf, type BigcommerceCustomer } from '../customer.js';
import { listed, Position } from '../lists.js';

const sync = createSync({
  description:
    'Customers that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['store_v2_customers_read_only'],
  models: { Customer },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted customers: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Customer');
    const pages = listed<BigcommerceCustomer>(svc, {
      endpoint: '/v3/customers',
      params: { 'date_modified:min': since || undefined, sort: 'date_created:asc' },
      page: checkpoint?.page ?? 1,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const customers of pages) await svc.batchSave(customers.map(customerOf), 'Customer');
    if (since === '') await svc.trackDeletesEnd('Customer');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Customer } from '../../models/commerce.js';
import { customerOf, type WoocommerceCustomer } from '../customer.js';
import { listed } from '../lists.js';

const sync = createSync({
  description:
    'All accounts with the role of a customer; those that are gone or have another role are deleted',
  version: '1.0.1',
  frequency: 'every 6 hours',
  autoStart: true,
  models: { Customer },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Customer');
    const pages = listed<WoocommerceCustomer>(svc, {
      resource: 'customers',
      params: {},
      page: (await svc.getCheckpoint())?.page,
      savePosition: (page) => svc.saveCheckpoint({ page }),
    });
    for await (const customers of pages) await svc.batchSave(customers.map(customerOf), 'Customer');
    await svc.trackDeletesEnd('Customer');
    await svc.clearCheckpoint();
  },
});

export default sync;

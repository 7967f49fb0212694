import { createSync } from 'svc';
import { z } from 'zod';
import { Customer } from '../../models/commerce.js';
import { customerOf, type StripeCustomer } from '../customer.js';
import { listed } from '../lists.js';

const sync = createSync({
  description: 'All customers; those that are gone are deleted',
  version: '1.0.1',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read_only'],
  models: { Customer },
  /** The customer after which an interrupted run goes on. */
  checkpoint: z.object({ lastId: z.string() }),

  exec: async (svc) => {
    // The list can be filtered by creation alone, which shows no later change.
    await svc.trackDeletesStart('Customer');
    const lastId = (await svc.getCheckpoint())?.lastId;
    for await (const customers of listed<StripeCustomer>(svc, '/v1/customers', lastId)) {
      await svc.batchSave(customers.map(customerOf), 'Customer');
      const last = customers.at(-1)?.id;
      if (last !== undefined) await svc.saveCheckpoint({ lastId: last });
    }
    await svc.trackDeletesEnd('Customer');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Payment } from '../../models/commerce.js';
import { paymentOf, type StripeCharge } from '../charge.js';
import { listed } from '../lists.js';

const sync = createSync({
  description: 'All charges, which Stripe never deletes',
  version: '1.0.1',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read_only'],
  models: { Payment },
  /** The charge after which an interrupted run goes on. */
  checkpoint: z.object({ lastId: z.string() }),

  exec: async (svc) => {
    // The list can be filtered by creation alone, which shows no later change.

    const lastId = (await svc.getCheckpoint())?.lastId;
    for await (const charges of listed<StripeCharge>(svc, '/v1/charges', lastId)) {
      await svc.batchSave(charges.map(paymentOf), 'Payment');
      const last = charges.at(-1)?.id;
      if (last !== undefined) await svc.saveCheckpoint({ lastId: last });
    }

    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';

const Charge = z.object({
  id: z.string(),
  amountCents: z.number(),
  currency: z.string(),
  isPaid: z.boolean(),
});

interface StripeList {
  data: { id: string; amount: number; currency: string; paid: boolean }[];
  has_more: boolean;
}

const sync = createSync({
  description: 'Charges; the next page is asked for by the last id of this one',
  version: '1.0.0',
  frequency: 'every 15 minutes',
  autoStart: true,
  models: { Charge },
  /** The charge after which an interrupted run goes on. */
  checkpoint: z.object({ after: z.string() }),

  exec: async (svc) => {
    let after = (await svc.getCheckpoint())?.after;
    for (let hasMore = true; hasMore;) {
      const { data: page } = await svc.get<StripeList>({
        endpoint: '/v1/charges',
        params: { limit: 2, starting_after: after },
        retries: 5,
      });
      const rows = page.data.map(({ id, amount, currency, paid }) => ({
        id,
        amountCents: amount,
        currency,
        isPaid: paid,
      }));
      await svc.batchSave(rows, 'Charge');
      after = page.data.at(-1)?.id;
      hasMore = page.has_more && after !== undefined;
      if (after !== undefined) await svc.saveCheckpoint({ after });
    }
    await svc.clearCheckpoint();
  },
});

export default sync;

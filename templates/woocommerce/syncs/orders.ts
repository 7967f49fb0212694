import { createSync, type SvcSync } from 'svc';
import { z } from 'zod';
import { Order } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { changedAfter, listed } from '../lists.js';
import { orderOf, type WoocommerceOrder } from '../order.js';

const models = { Order };
type Handle = Pick<SvcSync<typeof models>, 'batchDelete' | 'paginate'>;

const sync = createSync({
  description:
    'Orders that were changed or put into the trash since the last run; those deleted at once are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models,
  checkpoint: z.object({
    /** Of the orders that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // Those that are deleted without the trash are in no list: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Order');
    const pages = listed<WoocommerceOrder>(svc, {
      resource: 'orders',
      params: { status: 'any', ...changedAfter(since) },
      page: checkpoint?.page,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const orders of pages) await svc.batchSave(orders.map(orderOf), 'Order');
    if (since === '') await svc.trackDeletesEnd('Order');
    else await deleteTrash(svc);
    await svc.saveCheckpoint({ since: next });
  },
});

/** The whole trash: nothing says that putting an order there is a change of it. */
async function deleteTrash(svc: Handle): Promise<void> {
  const pages = listed<{ id: number }>(svc, {
    resource: 'orders',
    params: { status: 'trash' },
    page: undefined,
    savePosition: () => Promise.resolve(),
  });
  for await (const orders of pages) {
    await svc.batchDelete(
      orders.map(({ id }) => ({ id: String(id) })),
      'Order',
    );
  }
}

export default sync;

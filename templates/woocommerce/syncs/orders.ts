import { createSync } from 'svc';
import { z } from 'zod';
import { Order } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { changedAfter, listed } from '../lists.js';
import { orderOf, type WoocommerceOrder } from '../order.js';

const sync = createSync({
  description:
    'Orders that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Order },
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
    // The list has no deleted orders: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Order');
    const pages = listed<WoocommerceOrder>(svc, {
      resource: 'orders',
      params: { status: 'any', ...changedAfter(since) },
      page: checkpoint?.page,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const orders of pages) await svc.batchSave(orders.map(orderOf), 'Order');
    if (since === '') await svc.trackDeletesEnd('Order');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

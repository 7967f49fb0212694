import { createSync } from 'svc';
import { nextSince } from '../../shared/since.js';
import { listed, Position } from '../lists.js';
import { orderOf, OrderSummary, type BigcommerceOrder } from '../order.js';

const sync = createSync({
  description:
    'Orders that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['store_v2_orders_read_only'],
  models: { OrderSummary },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted orders: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('OrderSummary');
    const pages = listed<BigcommerceOrder>(svc, {
      endpoint: '/v2/orders',
      params: { min_date_modified: since || undefined, sort: 'id:asc' },
      page: checkpoint?.page ?? 1,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const orders of pages) await svc.batchSave(orders.map(orderOf), 'OrderSummary');
    if (since === '') await svc.trackDeletesEnd('OrderSummary');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

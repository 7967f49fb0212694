import { createSync } from 'svc';
import { Product } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { listed, Position } from '../lists.js';
import { productOf, type BigcommerceProduct } from '../product.js';

const sync = createSync({
  description:
    'Products that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['store_v2_products_read_only'],
  models: { Product },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted products: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Product');
    const pages = listed<BigcommerceProduct>(svc, {
      endpoint: '/v3/catalog/products',
      params: { 'date_modified:min': since || undefined, sort: 'id', direction: 'asc' },
      page: checkpoint?.page ?? 1,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const products of pages) await svc.batchSave(products.map(productOf), 'Product');
    if (since === '') await svc.trackDeletesEnd('Product');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

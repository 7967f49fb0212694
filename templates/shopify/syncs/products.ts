import { createSync } from 'svc';
import { Product } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { changed, Position } from '../graphql.js';
import { productOf, productsQuery, type ShopifyProduct } from '../product.js';

const sync = createSync({
  description:
    'Products that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['read_products'],
  models: { Product },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted products: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Product');
    const pages = changed<ShopifyProduct>(svc, {
      field: 'products',
      query: productsQuery,
      // A query costs 1,000 points at most, of which each object in it is one.
      first: 100,
      since,
      cursor: checkpoint?.cursor,
      savePosition: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const products of pages) await svc.batchSave(products.map(productOf), 'Product');
    if (since === '') await svc.trackDeletesEnd('Product');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

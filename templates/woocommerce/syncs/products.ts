import { createSync } from 'svc';
import { z } from 'zod';
import { Product } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { changedAfter, listed } from '../lists.js';
import { productOf, type WoocommerceProduct } from '../product.js';

const sync = createSync({
  description:
    'Products that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Product },
  checkpoint: z.object({
    /** Of the products that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted products: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Product');
    const pages = listed<WoocommerceProduct>(svc, {
      resource: 'products',
      params: { status: 'any', ...changedAfter(since) },
      page: checkpoint?.page,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const products of pages) await svc.batchSave(products.map(productOf), 'Product');
    if (since === '') await svc.trackDeletesEnd('Product');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

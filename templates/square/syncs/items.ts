import { createSync } from 'svc';
import { z } from 'zod';
import { Product } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { productOf, type SquareItem } from '../item.js';
import { searchedFrom } from '../search.js';

const sync = createSync({
  description: 'Items of the catalog that were changed or deleted since the last run',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['ITEMS_READ'],
  models: { Product },
  checkpoint: z.object({
    /** Of the items that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    const pages = searchedFrom<SquareItem>(svc, checkpoint?.cursor, {
      endpoint: '/v2/catalog/search',
      path: 'objects',
      data: {
        object_types: ['ITEM'],
        ...(since === '' ? {} : { begin_time: since, include_deleted_objects: true }),
        limit: 1000,
      },
    });
    for await (const { page, pageToken: cursor } of pages) {
      const items = page.rows;
      const living = items.filter((item) => item.is_deleted !== true);
      const gone = items.filter((item) => item.is_deleted === true).map(({ id }) => ({ id }));
      await svc.batchSave(living.map(productOf), 'Product');
      if (gone.length > 0) await svc.batchDelete(gone, 'Product');
      if (cursor !== '') await svc.saveCheckpoint({ since, nextSince: next, cursor });
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

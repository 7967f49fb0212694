import { createSync } from 'svc';
import { z } from 'zod';
import { Product } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { productOf, type SquareItem } from '../item.js';

const sync = createSync({
  description: 'Items of the catalog that were changed or deleted since the last run',
  version: '1.0.0',
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
    const pages = svc.paginate<SquareItem>({
      method: 'POST',
      endpoint: '/v2/catalog/search',
      data: {
        object_types: ['ITEM'],
        ...(since === '' ? {} : { begin_time: since, include_deleted_objects: true }),
        cursor: checkpoint?.cursor,
      },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'cursor',
        cursor_path_in_response: 'cursor',
        response_path: 'objects',
        limit_name_in_request: 'limit',
        limit: 1000,
        on_page: async ({ nextPageParam: cursor }) => {
          if (cursor === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, cursor: String(cursor) });
        },
      },
      retries: 5,
    });
    for await (const items of pages) {
      const living = items.filter((item) => item.is_deleted !== true);
      const gone = items.filter((item) => item.is_deleted === true).map(({ id }) => ({ id }));
      await svc.batchSave(living.map(productOf), 'Product');
      if (gone.length > 0) await svc.batchDelete(gone, 'Product');
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { exportedPages } from '../export.js';
import { SupportUser, supportUserOf, type ZendeskUser } from '../user.js';

const sync = createSync({
  description: 'Customers and agents that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['read'],
  models: { SupportUser },
  /** Behind what was saved: the next page, or what changes after the last one. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    const lastCursor = (await svc.getCheckpoint())?.cursor;
    for await (const { items, cursor } of exportedPages<ZendeskUser>(svc, 'users', lastCursor)) {
      const present = items.filter(({ active }) => active);
      await svc.batchSave(present.map(supportUserOf), 'SupportUser');
      const deleted = items.filter((item) => !present.includes(item));
      await svc.batchDelete(
        deleted.map(({ id }) => ({ id: String(id) })),
        'SupportUser',
      );
      if (cursor !== undefined) await svc.saveCheckpoint({ cursor });
    }
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { pagesOf } from '../pages.js';
import { AsanaUser, userFields, userOf, type AsanaApiUser } from '../user.js';

const sync = createSync({
  description: 'All users of all workspaces; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['users:read'],
  models: { AsanaUser },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ offset: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('AsanaUser');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<AsanaApiUser>(svc, {
      endpoint: '/users',
      params: { opt_fields: userFields },
      offset: checkpoint?.offset ?? '',
    });
    for await (const { rows, offset } of pages) {
      await svc.batchSave(rows.map(userOf), 'AsanaUser');
      if (offset !== '') await svc.saveCheckpoint({ offset });
    }
    await svc.trackDeletesEnd('AsanaUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { CrmUser } from '../../models/crm.js';
import { userOf, type GongUser } from '../user.js';

const sync = createSync({
  description: 'All users; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['api:users:read'],
  models: { CrmUser },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('CrmUser');
    const pages = svc.paginate<GongUser>({
      endpoint: '/v2/users',
      params: { includeAvatars: false, cursor: (await svc.getCheckpoint())?.cursor },
      paginate: {
        response_path: 'users',
        on_page: async ({ nextPageParam: cursor }) => {
          if (cursor !== undefined) await svc.saveCheckpoint({ cursor: String(cursor) });
        },
      },
      retries: 5,
    });
    for await (const users of pages) await svc.batchSave(users.map(userOf), 'CrmUser');
    await svc.trackDeletesEnd('CrmUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { pagesOf } from '../pages.js';
import { ZoomUser, userOf, type ZoomApiUser } from '../user.js';

const sync = createSync({
  description: 'All active users of the account; those that are deactivated or gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['user:read:list_users:admin'],
  models: { ZoomUser },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ token: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('ZoomUser');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<ZoomApiUser>(svc, {
      endpoint: '/users',
      path: 'users',
      params: { status: 'active' },
      token: checkpoint?.token ?? '',
    });
    for await (const { rows, token } of pages) {
      await svc.batchSave(rows.map(userOf), 'ZoomUser');
      if (token !== '') await svc.saveCheckpoint({ token });
    }
    await svc.trackDeletesEnd('ZoomUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

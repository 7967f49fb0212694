import { createSync } from 'svc';
import { z } from 'zod';
import { pageAt } from '../pages.js';
import { PagerDutyUser, userOf, type PagerDutyApiUser } from '../user.js';

const sync = createSync({
  description: 'All users; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['users.read'],
  models: { PagerDutyUser },
  /** Users before it are saved: an interrupted run goes on there. */
  checkpoint: z.object({ offset: z.number() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('PagerDutyUser');
    let offset = (await svc.getCheckpoint())?.offset ?? 0;
    for (let hasMore = true; hasMore;) {
      const page = await pageAt<PagerDutyApiUser>(
        svc,
        { endpoint: '/users', path: 'users' },
        offset,
      );
      await svc.batchSave(page.rows.map(userOf), 'PagerDutyUser');
      offset += page.rows.length;
      hasMore = page.hasMore && page.rows.length > 0;
      if (hasMore) await svc.saveCheckpoint({ offset });
    }
    await svc.trackDeletesEnd('PagerDutyUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

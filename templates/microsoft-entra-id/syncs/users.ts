import { createSync } from 'svc';
import { z } from 'zod';
import { DirectoryUser } from '../../models/directory.js';
import { changesOf, isLinkGone } from '../../shared/graph-changes.js';
import { userFields, userOf, type EntraUser } from '../user.js';

const sync = createSync({
  description: 'Users that were changed or deleted since the last run',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['User.Read.All'],
  models: { DirectoryUser },
  checkpoint: z.object({
    /** Of the page or of the changes with which the next request begins. */
    link: z.string(),
    /** Whether everything was read before. */
    isComplete: z.boolean(),
  }),

  exec: async (svc) => {
    const begin = (await svc.getCheckpoint()) ?? { link: '', isComplete: false };
    const query = { endpoint: '/v1.0/users/delta', params: { $select: userFields.join(',') } };
    if (!begin.isComplete) await svc.trackDeletesStart('DirectoryUser');
    try {
      for await (const page of changesOf<EntraUser>(svc, query, begin.link)) {
        await svc.batchSave(page.present.map(userOf), 'DirectoryUser');
        await svc.batchDelete(page.removed, 'DirectoryUser');
        if (page.isLast && !begin.isComplete) await svc.trackDeletesEnd('DirectoryUser');
        const isComplete = begin.isComplete || page.isLast;
        await svc.saveCheckpoint({ link: page.link, isComplete });
      }
    } catch (error) {
      if (!isLinkGone(error)) throw error;
      // The next run reads everything, and finds what was deleted meanwhile.
      await svc.clearCheckpoint();
    }
  },
});

export default sync;

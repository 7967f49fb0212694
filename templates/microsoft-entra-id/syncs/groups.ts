import { createSync } from 'svc';
import { z } from 'zod';
import { DirectoryGroup } from '../../models/directory.js';
import { changesOf, isLinkGone } from '../../shared/graph-changes.js';
import { groupFields, groupOf, type EntraGroup } from '../group.js';

const sync = createSync({
  description: 'Groups that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['GroupMember.Read.All'],
  models: { DirectoryGroup },
  checkpoint: z.object({
    /** Of the page or of the changes with which the next request begins. */
    link: z.string(),
    /** Whether everything was read before. */
    isComplete: z.boolean(),
  }),

  exec: async (svc) => {
    const begin = (await svc.getCheckpoint()) ?? { link: '', isComplete: false };
    const query = { endpoint: '/v1.0/groups/delta', params: { $select: groupFields.join(',') } };
    if (!begin.isComplete) await svc.trackDeletesStart('DirectoryGroup');
    try {
      for await (const page of changesOf<EntraGroup>(svc, query, begin.link)) {
        await svc.batchSave(page.present.map(groupOf), 'DirectoryGroup');
        await svc.batchDelete(page.removed, 'DirectoryGroup');
        if (page.isLast && !begin.isComplete) await svc.trackDeletesEnd('DirectoryGroup');
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

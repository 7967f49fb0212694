import { createSync } from 'svc';
import { z } from 'zod';
import { changesOf, isLinkGone } from '../../shared/graph-changes.js';
import { messageFields, messageOf, OutlookMessage, type OutlookApiMessage } from '../message.js';
import { pageSizeHeaders } from '../page-size.js';

const sync = createSync({
  description: 'Messages of a folder that were changed, moved away or deleted since the last run',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['Mail.Read'],
  models: { OutlookMessage },
  /** Id of the folder, or a name such as `inbox` (default) or `sentitems`. */
  metadata: z.object({ folder: z.string().optional() }),
  checkpoint: z.object({
    /** Of the page or of the changes with which the next request begins. */
    link: z.string(),
    /** Whether everything was read before. */
    isComplete: z.boolean(),
  }),

  exec: async (svc) => {
    const { folder = 'inbox' } = await svc.getMetadata();
    const begin = (await svc.getCheckpoint()) ?? { link: '', isComplete: false };
    const query = {
      endpoint: `/v1.0/me/mailFolders/${encodeURIComponent(folder)}/messages/delta`,
      params: { $select: messageFields.join(',') },
      headers: pageSizeHeaders,
    };
    if (!begin.isComplete) await svc.trackDeletesStart('OutlookMessage');
    try {
      for await (const page of changesOf<OutlookApiMessage>(svc, query, begin.link)) {
        const ids = page.present.map(({ id }) => id);
        const known = await svc.getRecordsById(ids, 'OutlookMessage');
        await svc.batchSave(
          page.present.map((item) => messageOf(item, known.get(item.id))),
          'OutlookMessage',
        );
        await svc.batchDelete(page.removed, 'OutlookMessage');
        if (page.isLast && !begin.isComplete) await svc.trackDeletesEnd('OutlookMessage');
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

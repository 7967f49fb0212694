import { createSync } from 'svc';
import { z } from 'zod';
import { changesOf, isLinkGone } from '../../shared/graph-changes.js';
import { folderFields, folderOf, MailFolder, type OutlookApiFolder } from '../mail-folder.js';
import { pageSizeHeaders } from '../page-size.js';

const sync = createSync({
  description:
    'Folders of the mailbox that were changed or deleted since the last run, with the counts of that moment: a message changes no folder',
  version: '1.0.1',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['Mail.Read'],
  models: { MailFolder },
  checkpoint: z.object({
    /** Of the page or of the changes with which the next request begins. */
    link: z.string(),
    /** Whether everything was read before. */
    isComplete: z.boolean(),
  }),

  exec: async (svc) => {
    const begin = (await svc.getCheckpoint()) ?? { link: '', isComplete: false };
    const query = {
      endpoint: '/v1.0/me/mailFolders/delta',
      params: { $select: folderFields.join(',') },
      headers: pageSizeHeaders,
    };
    if (!begin.isComplete) await svc.trackDeletesStart('MailFolder');
    try {
      for await (const page of changesOf<OutlookApiFolder>(svc, query, begin.link)) {
        const ids = page.present.map(({ id }) => id);
        const known = await svc.getRecordsById(ids, 'MailFolder');
        await svc.batchSave(
          page.present.map((item) => folderOf(item, known.get(item.id))),
          'MailFolder',
        );
        await svc.batchDelete(page.removed, 'MailFolder');
        if (page.isLast && !begin.isComplete) await svc.trackDeletesEnd('MailFolder');
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

import { createSync } from 'svc';
import { z } from 'zod';
import { File } from '../../models/files.js';
import { fileOf, type DriveItem } from '../../shared/drive-item.js';
import { changesOf, isLinkGone } from '../../shared/graph-changes.js';

const sync = createSync({
  description:
    'Files and folders of the documents of a site that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['Sites.Read.All'],
  models: { File },
  /** `host,id,id`; default: the root site of the organization. */
  metadata: z.object({ siteId: z.string().optional() }),
  checkpoint: z.object({
    /** Of the page or of the changes with which the next request begins. */
    link: z.string(),
    /** Whether everything was read before. */
    isComplete: z.boolean(),
  }),

  exec: async (svc) => {
    const { siteId = 'root' } = await svc.getMetadata();
    const begin = (await svc.getCheckpoint()) ?? { link: '', isComplete: false };
    const query = { endpoint: `/v1.0/sites/${siteId}/drive/root/delta` };
    if (!begin.isComplete) await svc.trackDeletesStart('File');
    try {
      for await (const page of changesOf<DriveItem>(svc, query, begin.link)) {
        await svc.batchSave(page.present.map(fileOf), 'File');
        await svc.batchDelete(page.removed, 'File');
        if (page.isLast && !begin.isComplete) await svc.trackDeletesEnd('File');
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

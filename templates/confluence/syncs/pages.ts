import { createSync } from 'svc';
import { z } from 'zod';
import { ConfluencePage, pageOf, type ConfluenceApiPage } from '../page.js';
import { pagesOf } from '../pages.js';

const sync = createSync({
  description:
    'All pages with their content, of some or of all spaces; those in the trash or gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read:page:confluence'],
  models: { ConfluencePage },
  /** Ids of the spaces, at most 100; default: all. */
  metadata: z.object({ space_ids: z.array(z.string()).optional() }),
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    const { space_ids: spaceIds } = await svc.getMetadata();
    await svc.trackDeletesStart('ConfluencePage');
    const checkpoint = await svc.getCheckpoint();
    // Confluence has no filter by change. Without a status it lists current and archived pages.
    const pages = pagesOf<ConfluenceApiPage>(svc, {
      endpoint: '/wiki/api/v2/pages',
      params: { 'space-id': spaceIds, 'body-format': 'storage' },
      cursor: checkpoint?.cursor ?? '',
    });
    for await (const { rows, cursor, site } of pages) {
      await svc.batchSave(
        rows.map((page) => pageOf(page, site)),
        'ConfluencePage',
      );
      if (cursor !== '') await svc.saveCheckpoint({ cursor });
    }
    await svc.trackDeletesEnd('ConfluencePage');
    await svc.clearCheckpoint();
  },
});

export default sync;

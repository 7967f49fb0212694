import { createSync } from 'svc';
import { z } from 'zod';
import { pagesOf } from '../pages.js';
import { ConfluenceSpace, spaceOf, type ConfluenceApiSpace } from '../space.js';

const sync = createSync({
  description: 'All spaces, archived ones too; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read:space:confluence'],
  models: { ConfluenceSpace },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('ConfluenceSpace');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<ConfluenceApiSpace>(svc, {
      endpoint: '/wiki/api/v2/spaces',
      params: { 'description-format': 'plain' },
      cursor: checkpoint?.cursor ?? '',
    });
    for await (const { rows, cursor, site } of pages) {
      await svc.batchSave(
        rows.map((space) => spaceOf(space, site)),
        'ConfluenceSpace',
      );
      if (cursor !== '') await svc.saveCheckpoint({ cursor });
    }
    await svc.trackDeletesEnd('ConfluenceSpace');
    await svc.clearCheckpoint();
  },
});

export default sync;

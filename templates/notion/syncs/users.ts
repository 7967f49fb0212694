import { createSync } from 'svc';
import { z } from 'zod';
import { pagesOf, type NotionList } from '../pages.js';
import { NotionUser, userOf, type NotionApiUser } from '../user.js';

const sync = createSync({
  description:
    'All members and bots of the workspace, without guests; those that are gone are deleted',
  version: '1.0.1',
  frequency: 'every 6 hours',
  autoStart: true,
  models: { NotionUser },
  /** At which an interrupted run goes on. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('NotionUser');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<NotionApiUser>(
      (cursor, pageSize) =>
        svc.get<NotionList<NotionApiUser>>({
          endpoint: '/v1/users',
          params: { page_size: pageSize, start_cursor: cursor },
          retries: 5,
        }),
      checkpoint?.cursor ?? '',
    );
    for await (const { rows, cursor } of pages) {
      await svc.batchSave(rows.map(userOf), 'NotionUser');
      if (cursor !== '') await svc.saveCheckpoint({ cursor });
    }
    await svc.trackDeletesEnd('NotionUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

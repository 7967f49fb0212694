import { createSync } from 'svc';
import { z } from 'zod';
import { nextSince } from '../../shared/since.js';
import { DatabasePage, pageOf, type NotionPage } from '../page.js';
import { pagesOf, type NotionList } from '../pages.js';

const sync = createSync({
  description:
    'Pages of a database with their columns; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: false,
  models: { DatabasePage },
  /** Its address shows the id. */
  metadata: z.object({ databaseId: z.string() }),
  checkpoint: z.object({
    /** Of the pages that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** At which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const { databaseId } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    const filter = { timestamp: 'last_edited_time', last_edited_time: { on_or_after: since } };
    // A query has no deleted pages: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('DatabasePage');
    const pages = pagesOf<NotionPage>(
      (cursor, pageSize) =>
        svc.post<NotionList<NotionPage>>({
          endpoint: `/v1/databases/${databaseId}/query`,
          data: {
            ...(since === '' ? {} : { filter }),
            // By creation: a page that changes meanwhile moves no other to one that was read.
            sorts: [{ timestamp: 'created_time', direction: 'ascending' }],
            start_cursor: cursor,
            page_size: pageSize,
          },
          retries: 5,
        }),
      checkpoint?.cursor ?? '',
    );
    for await (const { rows, cursor } of pages) {
      await svc.batchSave(
        rows.map((page) => pageOf(page, databaseId)),
        'DatabasePage',
      );
      if (cursor !== '') await svc.saveCheckpoint({ since, nextSince: next, cursor });
    }
    if (since === '') await svc.trackDeletesEnd('DatabasePage');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

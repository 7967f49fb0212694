import { createSync } from 'svc';
import { z } from 'zod';
import { nextSince } from '../../shared/since.js';
import { DatabasePage, pageOf, type NotionPage } from '../page.js';
import { queryPages, type NotionList } from '../pages.js';

const sync = createSync({
  description:
    'Pages of a database with their columns; deleted ones are found by a run from the start',
  version: '1.0.1',
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
    from: z.string().optional(),
    isCutOff: z.boolean().optional(),
  }),

  exec: async (svc) => {
    const { databaseId } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // A query has no deleted pages: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('DatabasePage');
    const pages = queryPages<NotionPage>(
      (from, cursor, pageSize) =>
        svc.post<NotionList<NotionPage>>({
          endpoint: `/v1/databases/${databaseId}/query`,
          data: {
            ...filterOf(since, from),
            // By creation: a page that changes meanwhile moves no other to one that was read.
            sorts: [{ timestamp: 'created_time', direction: 'ascending' }],
            start_cursor: cursor,
            page_size: pageSize,
          },
          retries: 5,
        }),
      {
        from: checkpoint?.from ?? '',
        cursor: checkpoint?.cursor ?? '',
        isCutOff: checkpoint?.isCutOff ?? false,
      },
    );
    for await (const { rows, position } of pages) {
      // A wiki holds databases too.
      const found = rows.filter(({ object }) => object === 'page');
      await svc.batchSave(
        found.map((page) => pageOf(page, databaseId)),
        'DatabasePage',
      );
      if (position !== null) await svc.saveCheckpoint({ since, nextSince: next, ...position });
    }
    if (since === '') await svc.trackDeletesEnd('DatabasePage');
    await svc.saveCheckpoint({ since: next });
  },
});

/** Of pages that were edited since, and created from a time on; empty: any. */
function filterOf(since: string, from: string) {
  const filters = [
    { timestamp: 'last_edited_time', last_edited_time: { on_or_after: since } },
    { timestamp: 'created_time', created_time: { on_or_after: from } },
  ].filter((_, at) => [since, from][at] !== '');
  const [filter, second] = filters;
  if (filter === undefined) return {};
  return { filter: second === undefined ? filter : { and: [filter, second] } };
}

export default sync;

import { createSync, type SvcSync } from 'svc';
import { z } from 'zod';
import { Job } from '../../models/recruiting.js';
import { nextSince } from '../../shared/since.js';
import { jobOf, type LeverPosting } from '../posting.js';

/** The list of deleted postings answers for 30 days at most. */
const windowMs = 29 * 24 * 60 * 60 * 1000;

const models = { Job };
type Handle = Pick<SvcSync<typeof models>, 'batchDelete' | 'paginate'>;

const sync = createSync({
  description: 'Postings that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models,
  checkpoint: z.object({
    /** Of the changes that this run asks for, in milliseconds since the epoch; 0: everything. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** The page at which an interrupted run goes on. */
    offset: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? nextSince();
    // What was deleted before this run is what it does not find.
    if (since === 0) await svc.trackDeletesStart('Job');
    const pages = svc.paginate<LeverPosting>({
      endpoint: '/v1/postings',
      params: {
        // Without it the list leaves confidential ones out.
        confidentiality: 'all',
        updated_at_start: since === 0 ? undefined : since,
        offset: checkpoint?.offset,
      },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'offset',
        cursor_path_in_response: 'next',
        response_path: 'data',
        limit_name_in_request: 'limit',
        limit: 100,
        on_page: async ({ nextPageParam: offset }) => {
          if (typeof offset === 'string')
            await svc.saveCheckpoint({ since, nextSince: next, offset });
        },
      },
      retries: 5,
    });
    for await (const postings of pages) await svc.batchSave(postings.map(jobOf), 'Job');
    if (since === 0) await svc.trackDeletesEnd('Job');
    else await deletePostings(svc, since);
    await svc.saveCheckpoint({ since: next });
  },
});

async function deletePostings(svc: Handle, since: number): Promise<void> {
  const now = new Date().getTime();
  for (let start = since; start < now; start += windowMs) {
    const pages = svc.paginate<{ id: string }>({
      endpoint: '/v1/postings/deleted',
      params: { deleted_at_start: start, deleted_at_end: Math.min(start + windowMs, now) },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'offset',
        cursor_path_in_response: 'next',
        response_path: 'data',
        limit_name_in_request: 'limit',
        limit: 100,
      },
      retries: 5,
    });
    for await (const deleted of pages) {
      await svc.batchDelete(
        deleted.map(({ id }) => ({ id })),
        'Job',
      );
    }
  }
}

export default sync;

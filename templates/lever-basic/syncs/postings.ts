import { createSync } from 'svc';
import { z } from 'zod';
import { Job } from '../../models/recruiting.js';
import { nextSince } from '../../shared/since.js';
import { jobOf, type LeverPosting } from '../posting.js';

const sync = createSync({
  description:
    'Postings that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Job },
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
    // Those that a run from the start does not find are gone.
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
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

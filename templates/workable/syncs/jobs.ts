import { createSync } from 'svc';
import { z } from 'zod';
import { Job } from '../../models/recruiting.js';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { jobOf, type WorkableJob } from '../job.js';

const sync = createSync({
  description:
    'Jobs that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['r_jobs'],
  models: { Job },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: everything. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted ones: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Job');
    // In the order of creation: one that changes meanwhile moves no other to a page that was read.
    const first = {
      endpoint: '/jobs',
      params: { limit: 100, updated_after: since || undefined },
    };
    const pages = svc.paginate<WorkableJob>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_path_in_response_body: 'paging.next',
        response_path: 'jobs',
        on_page: async ({ nextPageParam: page }) => {
          if (typeof page === 'string') await svc.saveCheckpoint({ since, nextSince: next, page });
        },
      },
      retries: 5,
    });
    for await (const jobs of pages) await svc.batchSave(jobs.map(jobOf), 'Job');
    if (since === '') await svc.trackDeletesEnd('Job');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

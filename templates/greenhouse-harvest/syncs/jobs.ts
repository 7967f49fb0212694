import { createSync } from 'svc';
import { z } from 'zod';
import { nextSince } from '../../shared/since.js';
import { isJob, Job, jobOf, type GreenhouseJob } from '../job.js';
import { listPages } from '../list.js';

const sync = createSync({
  description:
    'Jobs that were changed since the last run; those that become templates are deleted, and deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['harvest:jobs:list'],
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
    const pages = listPages<GreenhouseJob>(svc, {
      endpoint: '/v3/jobs',
      since,
      page: checkpoint?.page,
      savePage: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const page of pages) {
      await svc.batchSave(page.filter(isJob).map(jobOf), 'Job');
      if (since === '') continue;
      // A job that was saved may have become a template.
      const templates = page.filter((job) => !isJob(job));
      await svc.batchDelete(
        templates.map(({ id }) => ({ id: String(id) })),
        'Job',
      );
    }
    if (since === '') await svc.trackDeletesEnd('Job');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Job, jobOf, jobStatuses, type AshbyJob } from '../job.js';
import { listPages } from '../list.js';

const sync = createSync({
  description:
    'Jobs that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Job },
  /** `syncToken`: of the last run, empty: everything. `cursor`: the page at which an interrupted run goes on. */
  checkpoint: z.object({ syncToken: z.string(), cursor: z.string() }),

  exec: async (svc) => {
    let next = (await svc.getCheckpoint()) ?? { syncToken: '', cursor: '' };
    let isComplete = false;
    const pages = listPages<AshbyJob>(svc, {
      endpoint: '/job.list',
      position: next,
      data: { status: jobStatuses },
    });
    for await (const page of pages) {
      // The list has no deleted ones: those that a run from the start does not find are gone.
      if (page.beginsAll) await svc.trackDeletesStart('Job');
      isComplete ||= page.beginsAll;
      await svc.batchSave(page.documents.map(jobOf), 'Job');
      next = page.next;
      if (next.cursor !== '') await svc.saveCheckpoint(next);
    }
    if (isComplete) await svc.trackDeletesEnd('Job');
    await svc.saveCheckpoint(next);
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Candidate, candidateOf, type AshbyCandidate } from '../candidate.js';
import { listPages } from '../list.js';

const sync = createSync({
  description:
    'Candidates that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Candidate },
  /** `syncToken`: of the last run, empty: everything. `cursor`: the page at which an interrupted run goes on. */
  checkpoint: z.object({ syncToken: z.string(), cursor: z.string() }),

  exec: async (svc) => {
    let next = (await svc.getCheckpoint()) ?? { syncToken: '', cursor: '' };
    let isComplete = false;
    const pages = listPages<AshbyCandidate>(svc, {
      endpoint: '/candidate.list',
      position: next,
    });
    for await (const page of pages) {
      // The list has no deleted ones: those that a run from the start does not find are gone.
      if (page.beginsAll) await svc.trackDeletesStart('Candidate');
      isComplete ||= page.beginsAll;
      await svc.batchSave(page.documents.map(candidateOf), 'Candidate');
      next = page.next;
      if (next.cursor !== '') await svc.saveCheckpoint(next);
    }
    if (isComplete) await svc.trackDeletesEnd('Candidate');
    await svc.saveCheckpoint(next);
  },
});

export default sync;

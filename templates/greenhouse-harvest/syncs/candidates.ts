import { createSync } from 'svc';
import { z } from 'zod';
import { Candidate } from '../../models/recruiting.js';
import { nextSince } from '../../shared/since.js';
import { candidateOf, type GreenhouseCandidate } from '../candidate.js';
import { listPages } from '../list.js';

const sync = createSync({
  description:
    'Candidates that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['harvest:candidates:list'],
  models: { Candidate },
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
    if (since === '') await svc.trackDeletesStart('Candidate');
    const pages = listPages<GreenhouseCandidate>(svc, {
      endpoint: '/v3/candidates',
      since,
      page: checkpoint?.page,
      savePage: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const candidates of pages)
      await svc.batchSave(candidates.map(candidateOf), 'Candidate');
    if (since === '') await svc.trackDeletesEnd('Candidate');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

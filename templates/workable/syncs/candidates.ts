import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { Candidate, candidateOf, type WorkableCandidate } from '../candidate.js';

const sync = createSync({
  description:
    'Candidates that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['r_candidates'],
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
    // In the order of creation: one that changes meanwhile moves no other to a page that was read.
    const first = {
      endpoint: '/candidates',
      params: { limit: 100, updated_after: since || undefined },
    };
    const pages = svc.paginate<WorkableCandidate>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_path_in_response_body: 'paging.next',
        response_path: 'candidates',
        on_page: async ({ nextPageParam: page }) => {
          if (typeof page === 'string') await svc.saveCheckpoint({ since, nextSince: next, page });
        },
      },
      retries: 5,
    });
    for await (const candidates of pages)
      await svc.batchSave(candidates.map(candidateOf), 'Candidate');
    if (since === '') await svc.trackDeletesEnd('Candidate');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

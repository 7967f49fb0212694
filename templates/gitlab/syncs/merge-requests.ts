import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { MergeRequest, mergeRequestOf, type GitlabMergeRequest } from '../merge-request.js';

const sync = createSync({
  description: 'Merge requests of a project; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: false,
  scopes: ['read_api'],
  models: { MergeRequest },
  /** Id or path of the project: `group/project`. */
  metadata: z.object({ project: z.string() }),
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const { project } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted ones: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('MergeRequest');
    const first = {
      endpoint: `/api/v4/projects/${encodeURIComponent(project)}/merge_requests`,
      params: {
        scope: 'all',
        state: 'all',
        // By creation: one that changes meanwhile moves no other to a page that was read.
        order_by: 'created_at',
        sort: 'asc',
        updated_after: since || undefined,
        per_page: 100,
      },
    };
    const pages = svc.paginate<GitlabMergeRequest>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_rel_in_response_header: 'next',
        on_page: async ({ nextPageParam: page }) => {
          if (page === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, page: String(page) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) await svc.batchSave(page.map(mergeRequestOf), 'MergeRequest');
    if (since === '') await svc.trackDeletesEnd('MergeRequest');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

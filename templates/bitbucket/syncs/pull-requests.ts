import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { PullRequest, pullRequestOf, type BitbucketPullRequest } from '../pull-request.js';

/** Without them Bitbucket lists open ones alone. */
const states = ['OPEN', 'MERGED', 'DECLINED', 'SUPERSEDED'];

const sync = createSync({
  description:
    'Pull requests of a repository that were changed since the last run; missing ones are deleted by a run from the start',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: false,
  scopes: ['pullrequest'],
  models: { PullRequest },
  /** `workspace/repository` */
  metadata: z.object({ repository: z.string() }),
  checkpoint: z.object({
    /** Of the pull requests that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const { repository } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // Those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('PullRequest');
    // By creation: one that changes meanwhile moves no other to a page that was read.
    const params = new URLSearchParams({ sort: 'created_on', pagelen: '50' });
    for (const state of states) params.append('state', state);
    if (since !== '') params.append('q', `updated_on >= ${since}`);
    const first = { endpoint: `/2.0/repositories/${repository}/pullrequests`, params };
    const pages = svc.paginate<BitbucketPullRequest>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_path_in_response_body: 'next',
        response_path: 'values',
        on_page: async ({ nextPageParam: page }) => {
          if (typeof page === 'string') await svc.saveCheckpoint({ since, nextSince: next, page });
        },
      },
      retries: 5,
    });
    for await (const page of pages) {
      await svc.batchSave(
        page.map((request) => pullRequestOf(request, repository)),
        'PullRequest',
      );
    }
    if (since === '') await svc.trackDeletesEnd('PullRequest');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

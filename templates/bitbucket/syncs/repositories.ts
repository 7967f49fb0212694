import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { Repository, repositoryOf, type BitbucketRepository } from '../repository.js';

const sync = createSync({
  description: 'All repositories of a workspace; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: false,
  scopes: ['repository'],
  models: { Repository },
  /** The name of the workspace in addresses. */
  metadata: z.object({ workspace: z.string() }),
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.string() }),

  exec: async (svc) => {
    const { workspace } = await svc.getMetadata();
    await svc.trackDeletesStart('Repository');
    const checkpoint = await svc.getCheckpoint();
    // By creation: a repository that changes meanwhile moves no other to a page that was read.
    const first = {
      endpoint: `/2.0/repositories/${encodeURIComponent(workspace)}`,
      params: { sort: 'created_on', pagelen: 100 },
    };
    const pages = svc.paginate<BitbucketRepository>({
      ...(checkpoint === null ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_path_in_response_body: 'next',
        response_path: 'values',
        on_page: async ({ nextPageParam: page }) => {
          if (typeof page === 'string') await svc.saveCheckpoint({ page });
        },
      },
      retries: 5,
    });
    for await (const repositories of pages) {
      await svc.batchSave(repositories.map(repositoryOf), 'Repository');
    }
    await svc.trackDeletesEnd('Repository');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { SentryProject, projectOf, type SentryApiProject } from '../project.js';

const sync = createSync({
  description: 'All projects of an organization; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: false,
  scopes: ['org:read'],
  models: { SentryProject },
  /** The slug of the organization, which its address shows. */
  metadata: z.object({ organization: z.string() }),
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.string() }),

  exec: async (svc) => {
    const { organization } = await svc.getMetadata();
    await svc.trackDeletesStart('SentryProject');
    const checkpoint = await svc.getCheckpoint();
    const first = {
      endpoint: `/api/0/organizations/${encodeURIComponent(organization)}/projects/`,
      params: { per_page: 100 },
    };
    const pages = svc.paginate<SentryApiProject>({
      ...(checkpoint === null ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_rel_in_response_header: 'next',
        on_page: async ({ nextPageParam: page }) => {
          if (typeof page === 'string') await svc.saveCheckpoint({ page });
        },
      },
      retries: 5,
    });
    for await (const page of pages) await svc.batchSave(page.map(projectOf), 'SentryProject');
    await svc.trackDeletesEnd('SentryProject');
    await svc.clearCheckpoint();
  },
});

export default sync;

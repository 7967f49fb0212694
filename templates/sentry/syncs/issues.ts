import { createSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../../shared/links.js';
import { SentryIssue, issueOf, type SentryApiIssue } from '../issue.js';

const sync = createSync({
  description:
    'Issues of an organization with an event that Sentry still keeps; those without one are deleted',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: false,
  scopes: ['event:read'],
  models: { SentryIssue },
  /** The slug of the organization, which its address shows. */
  metadata: z.object({ organization: z.string() }),
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.string() }),

  exec: async (svc) => {
    const { organization } = await svc.getMetadata();
    await svc.trackDeletesStart('SentryIssue');
    const checkpoint = await svc.getCheckpoint();
    // Sentry has no filter by change: a new status leaves the time of the last event as it was.
    const first = {
      endpoint: `/api/0/organizations/${encodeURIComponent(organization)}/issues/`,
      // Without a query Sentry lists unresolved ones alone. By first event, which never changes.
      params: { query: '', sort: 'new', limit: 100 },
    };
    const pages = svc.paginate<SentryApiIssue>({
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
    for await (const page of pages) await svc.batchSave(page.map(issueOf), 'SentryIssue');
    await svc.trackDeletesEnd('SentryIssue');
    await svc.clearCheckpoint();
  },
});

export default sync;

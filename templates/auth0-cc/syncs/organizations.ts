import { createSync } from 'svc';
import { z } from 'zod';
import { Auth0Organization, organizationOf, type Auth0ApiOrganization } from '../organization.js';

const sync = createSync({
  description: 'All organizations of the tenant; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['read:organizations'],
  models: { Auth0Organization },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ from: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Auth0Organization');
    const checkpoint = await svc.getCheckpoint();
    // Numbers of pages end at 1,000 organizations; cursors do not.
    const pages = svc.paginate<Auth0ApiOrganization>({
      endpoint: '/organizations',
      params: { from: checkpoint?.from },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'from',
        cursor_path_in_response: 'next',
        response_path: 'organizations',
        limit_name_in_request: 'take',
        limit: 100,
        on_page: async ({ nextPageParam: from }) => {
          if (from !== undefined) await svc.saveCheckpoint({ from: String(from) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) {
      await svc.batchSave(page.map(organizationOf), 'Auth0Organization');
    }
    await svc.trackDeletesEnd('Auth0Organization');
    await svc.clearCheckpoint();
  },
});

export default sync;

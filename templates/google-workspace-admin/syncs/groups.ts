import { createSync } from 'svc';
import { z } from 'zod';
import { pagesFrom } from '../../shared/page-tokens.js';
import { groupOf, WorkspaceGroup, type GoogleGroup } from '../group.js';

const sync = createSync({
  description: 'All groups of all domains of the account; those that are gone are deleted',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/admin.directory.group.readonly'],
  models: { WorkspaceGroup },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ pageToken: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('WorkspaceGroup');
    const pages = pagesFrom((await svc.getCheckpoint())?.pageToken ?? '', (pageToken) =>
      svc.get<{ groups?: GoogleGroup[]; nextPageToken?: string }>({
        endpoint: '/admin/directory/v1/groups',
        params: { customer: 'my_customer', maxResults: 200, pageToken },
        retries: 5,
      }),
    );
    for await (const { page, pageToken } of pages) {
      await svc.batchSave((page.groups ?? []).map(groupOf), 'WorkspaceGroup');
      if (pageToken !== '') await svc.saveCheckpoint({ pageToken });
    }
    await svc.trackDeletesEnd('WorkspaceGroup');
    await svc.clearCheckpoint();
  },
});

export default sync;

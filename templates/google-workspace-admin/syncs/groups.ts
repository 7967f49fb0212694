import { createSync } from 'svc';
import { z } from 'zod';
import { groupOf, WorkspaceGroup, type GoogleGroup } from '../group.js';

const sync = createSync({
  description: 'All groups of all domains of the account; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/admin.directory.group.readonly'],
  models: { WorkspaceGroup },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ pageToken: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('WorkspaceGroup');
    let pageToken = (await svc.getCheckpoint())?.pageToken ?? '';
    do {
      const { data } = await svc.get<{ groups?: GoogleGroup[]; nextPageToken?: string }>({
        endpoint: '/admin/directory/v1/groups',
        params: { customer: 'my_customer', maxResults: 200, pageToken: pageToken || undefined },
        retries: 5,
      });
      await svc.batchSave((data.groups ?? []).map(groupOf), 'WorkspaceGroup');
      pageToken = data.nextPageToken ?? '';
      if (pageToken !== '') await svc.saveCheckpoint({ pageToken });
    } while (pageToken !== '');
    await svc.trackDeletesEnd('WorkspaceGroup');
    await svc.clearCheckpoint();
  },
});

export default sync;

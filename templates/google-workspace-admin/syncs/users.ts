import { createSync } from 'svc';
import { z } from 'zod';
import { DirectoryUser } from '../../models/directory.js';
import { pagesFrom } from '../../shared/page-tokens.js';
import { userOf, type GoogleUser } from '../user.js';

const sync = createSync({
  description: 'All users of all domains of the account; those that are gone are deleted',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/admin.directory.user.readonly'],
  models: { DirectoryUser },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ pageToken: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('DirectoryUser');
    const pages = pagesFrom((await svc.getCheckpoint())?.pageToken ?? '', (pageToken) =>
      svc.get<{ users?: GoogleUser[]; nextPageToken?: string }>({
        endpoint: '/admin/directory/v1/users',
        params: { customer: 'my_customer', maxResults: 500, pageToken },
        retries: 5,
      }),
    );
    for await (const { page, pageToken } of pages) {
      await svc.batchSave((page.users ?? []).map(userOf), 'DirectoryUser');
      if (pageToken !== '') await svc.saveCheckpoint({ pageToken });
    }
    await svc.trackDeletesEnd('DirectoryUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

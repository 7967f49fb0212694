import { createSync } from 'svc';
import { z } from 'zod';
import { DirectoryUser } from '../../models/directory.js';
import { userOf, type GoogleUser } from '../user.js';

const sync = createSync({
  description: 'All users of all domains of the account; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/admin.directory.user.readonly'],
  models: { DirectoryUser },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ pageToken: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('DirectoryUser');
    let pageToken = (await svc.getCheckpoint())?.pageToken ?? '';
    do {
      const { data } = await svc.get<{ users?: GoogleUser[]; nextPageToken?: string }>({
        endpoint: '/admin/directory/v1/users',
        params: { customer: 'my_customer', maxResults: 500, pageToken: pageToken || undefined },
        retries: 5,
      });
      await svc.batchSave((data.users ?? []).map(userOf), 'DirectoryUser');
      pageToken = data.nextPageToken ?? '';
      if (pageToken !== '') await svc.saveCheckpoint({ pageToken });
    } while (pageToken !== '');
    await svc.trackDeletesEnd('DirectoryUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

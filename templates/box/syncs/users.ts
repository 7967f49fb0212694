import { createSync } from 'svc';
import { z } from 'zod';
import { BoxUser, userOf, type BoxApiUser } from '../user.js';

const sync = createSync({
  description: 'All users of the enterprise; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['manage_managed_users'],
  models: { BoxUser },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ marker: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('BoxUser');
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<BoxApiUser>({
      endpoint: '/2.0/users',
      params: { usemarker: true, marker: checkpoint?.marker },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'marker',
        cursor_path_in_response: 'next_marker',
        response_path: 'entries',
        limit_name_in_request: 'limit',
        limit: 1000,
        on_page: async ({ nextPageParam: marker }) => {
          if (marker !== undefined) await svc.saveCheckpoint({ marker: String(marker) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) {
      await svc.batchSave(page.map(userOf), 'BoxUser');
    }
    await svc.trackDeletesEnd('BoxUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { pagesFrom } from '../../shared/page-tokens.js';

const SharedDrive = z.object({
  id: z.string(),
  name: z.string(),
  is_hidden: z.boolean(),
  created_at: z.string().nullable(),
});

interface GoogleDrive {
  id: string;
  name: string;
  hidden?: boolean;
  createdTime?: string;
}

const sync = createSync({
  description: 'All shared drives of the person; those that are gone are deleted',
  version: '1.0.1',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/drive.readonly'],
  models: { SharedDrive },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ pageToken: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('SharedDrive');
    const pages = pagesFrom((await svc.getCheckpoint())?.pageToken ?? '', (pageToken) =>
      svc.get<{ drives: GoogleDrive[]; nextPageToken?: string }>({
        endpoint: '/drives',
        params: {
          fields: 'nextPageToken,drives(id,name,hidden,createdTime)',
          pageSize: 100,
          pageToken,
        },
        retries: 5,
      }),
    );
    for await (const { page, pageToken } of pages) {
      const records = page.drives.map(({ id, name, hidden, createdTime }) => ({
        id,
        name,
        is_hidden: hidden ?? false,
        created_at: createdTime ?? null,
      }));
      await svc.batchSave(records, 'SharedDrive');
      if (pageToken !== '') await svc.saveCheckpoint({ pageToken });
    }
    await svc.trackDeletesEnd('SharedDrive');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';

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
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['https://www.googleapis.com/auth/drive.readonly'],
  models: { SharedDrive },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ pageToken: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('SharedDrive');
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<GoogleDrive>({
      endpoint: '/drives',
      params: {
        fields: 'nextPageToken,drives(id,name,hidden,createdTime)',
        pageToken: checkpoint?.pageToken,
      },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'pageToken',
        cursor_path_in_response: 'nextPageToken',
        response_path: 'drives',
        limit_name_in_request: 'pageSize',
        limit: 100,
        on_page: async ({ nextPageParam: pageToken }) => {
          if (pageToken !== undefined) await svc.saveCheckpoint({ pageToken: String(pageToken) });
        },
      },
      retries: 5,
    });
    for await (const drives of pages) {
      const records = drives.map(({ id, name, hidden, createdTime }) => ({
        id,
        name,
        is_hidden: hidden ?? false,
        created_at: createdTime ?? null,
      }));
      await svc.batchSave(records, 'SharedDrive');
    }
    await svc.trackDeletesEnd('SharedDrive');
    await svc.clearCheckpoint();
  },
});

export default sync;

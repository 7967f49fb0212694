import { createSync } from 'svc';
import { z } from 'zod';
import { File } from '../../models/files.js';
import { fileOf, itemFields, type BoxItem } from '../item.js';

const sync = createSync({
  description: 'Files and folders directly in a folder; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['root_readonly'],
  models: { File },
  /** Its address shows the id; default: the top folder. */
  metadata: z.object({ folderId: z.string().optional() }),
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ marker: z.string() }),

  exec: async (svc) => {
    const { folderId = '0' } = await svc.getMetadata();
    await svc.trackDeletesStart('File');
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<BoxItem>({
      endpoint: `/2.0/folders/${folderId}/items`,
      params: { usemarker: true, fields: itemFields.join(','), marker: checkpoint?.marker },
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
      await svc.batchSave(page.filter(({ type }) => type !== 'web_link').map(fileOf), 'File');
    }
    await svc.trackDeletesEnd('File');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';

const Contact = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().optional(),
});

const sync = createSync({
  description: 'All contacts, by cursor; a run that failed goes on after its last page',
  version: '1.0.0',
  frequency: 'every hour',
  models: { Contact },
  checkpoint: z.object({ cursor: z.string() }),
  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    await svc.trackDeletesStart('Contact');
    const pages = svc.paginate<z.infer<typeof Contact>>({
      endpoint: '/contacts',
      params: checkpoint === null ? {} : { cursor: checkpoint.cursor },
      paginate: {
        type: 'cursor',
        cursor_path_in_response: 'next',
        cursor_name_in_request: 'cursor',
        limit_name_in_request: 'limit',
        limit: 20,
        response_path: 'data',
        on_page: async ({ nextPageParam }) => {
          if (nextPageParam !== undefined) {
            await svc.saveCheckpoint({ cursor: String(nextPageParam) });
          }
        },
      },
    });
    for await (const page of pages) {
      await svc.batchSave(page, 'Contact');
      await svc.log(`Saved ${page.length} contacts`, page, { level: 'warn' });
    }
    await svc.trackDeletesEnd('Contact');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';

const Page = z.object({ id: z.string(), url: z.string(), editedAt: z.string() });

const sync = createSync({
  description: 'Pages of the workspace; the cursor travels in the body of a POST',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Page },

  exec: async (svc) => {
    const pages = svc.paginate<{ id: string; url: string; last_edited_time: string }>({
      endpoint: '/v1/search',
      method: 'POST',
      headers: { 'notion-version': '2022-06-28' },
      data: { filter: { property: 'object', value: 'page' } },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'start_cursor',
        cursor_path_in_response: 'next_cursor',
        response_path: 'results',
        limit_name_in_request: 'page_size',
        limit: 2,
      },
      retries: 3,
    });
    for await (const found of pages) {
      const rows = found.map(({ id, url, last_edited_time: editedAt }) => ({ id, url, editedAt }));
      await svc.batchSave(rows, 'Page');
    }
  },
});

export default sync;

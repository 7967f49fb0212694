import { createSync } from 'svc';
import { z } from 'zod';
import { AirtableBase, baseOf, type AirtableApiBase } from '../base.js';

const sync = createSync({
  description: 'All bases that the connection may access; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['schema.bases:read'],
  models: { AirtableBase },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ offset: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('AirtableBase');
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<AirtableApiBase>({
      endpoint: '/v0/meta/bases',
      params: { offset: checkpoint?.offset },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'offset',
        cursor_path_in_response: 'offset',
        response_path: 'bases',
        on_page: async ({ nextPageParam: offset }) => {
          if (offset !== undefined) await svc.saveCheckpoint({ offset: String(offset) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) {
      await svc.batchSave(page.map(baseOf), 'AirtableBase');
    }
    await svc.trackDeletesEnd('AirtableBase');
    await svc.clearCheckpoint();
  },
});

export default sync;

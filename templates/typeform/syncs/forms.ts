import { createSync } from 'svc';
import { z } from 'zod';
import { Form, formOf, type TypeformForm } from '../form.js';

const sync = createSync({
  description: 'All forms; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['forms:read'],
  models: { Form },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.number() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Form');
    let page = (await svc.getCheckpoint())?.page ?? 1;
    const pages = svc.paginate<TypeformForm>({
      endpoint: '/forms',
      params: { sort_by: 'created_at', order_by: 'asc' },
      paginate: { offset_start_value: page, limit: 200 },
      retries: 5,
    });
    for await (const forms of pages) {
      await svc.batchSave(forms.map(formOf), 'Form');
      page += 1;
      await svc.saveCheckpoint({ page });
    }
    await svc.trackDeletesEnd('Form');
    await svc.clearCheckpoint();
  },
});

export default sync;

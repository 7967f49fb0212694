import { createSync } from 'svc';
import { z } from 'zod';
import { Employee } from '../../models/hr.js';
import { employeeOf, type DeelPerson } from '../person.js';

const limit = 50;

const sync = createSync({
  description: 'All people; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['people:read'],
  models: { Employee },
  /** People before it are saved: an interrupted run goes on there. */
  checkpoint: z.object({ offset: z.number() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Employee');
    let offset = (await svc.getCheckpoint())?.offset ?? 0;
    // The documentation names no greatest limit: the list ends by its number of rows, not by a short page.
    for (;;) {
      const { data } = await svc.get<{ data: DeelPerson[]; page: { total_rows: number } }>({
        endpoint: '/people',
        params: { limit, offset, sort_by: 'id', sort_order: 'asc' },
        retries: 5,
      });
      await svc.batchSave(data.data.map(employeeOf), 'Employee');
      offset += data.data.length;
      if (data.data.length === 0 || offset >= data.page.total_rows) break;
      await svc.saveCheckpoint({ offset });
    }
    await svc.trackDeletesEnd('Employee');
    await svc.clearCheckpoint();
  },
});

export default sync;

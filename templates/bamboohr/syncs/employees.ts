import { createSync } from 'svc';
import { z } from 'zod';
import { Employee } from '../../models/hr.js';
import { employeeFields, employeeOf, type BamboohrEmployee } from '../employee.js';

interface Refusal {
  response?: { data?: { error?: { code?: string } } };
}

/** The position names an employee: that one may be deleted meanwhile. */
const positionGone = 'BadPage';

const sync = createSync({
  description: 'All employees; those that are gone are deleted',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Employee },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ after: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Employee');
    const after = (await svc.getCheckpoint())?.after;
    const pages = svc.paginate<BamboohrEmployee>({
      endpoint: '/v1/employees',
      params: { fields: employeeFields.join(','), sort: 'employeeId', 'page[after]': after },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'page[after]',
        cursor_path_in_response: 'meta.page.nextCursor',
        response_path: 'data',
        limit_name_in_request: 'page[limit]',
        limit: 2500,
        on_page: async ({ nextPageParam }) => {
          if (typeof nextPageParam === 'string') await svc.saveCheckpoint({ after: nextPageParam });
        },
      },
      retries: 5,
    });
    try {
      for await (const employees of pages)
        await svc.batchSave(employees.map(employeeOf), 'Employee');
    } catch (error) {
      if ((error as Refusal).response?.data?.error?.code !== positionGone) throw error;
      // The next run reads the list from its start.
      await svc.clearCheckpoint();
      return;
    }
    await svc.trackDeletesEnd('Employee');
    await svc.clearCheckpoint();
  },
});

export default sync;

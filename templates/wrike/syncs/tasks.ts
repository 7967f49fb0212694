import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { nextSinceIso } from '../../shared/since.js';
import { taskFields, ticketOf, type WrikeTask } from '../task.js';

const sync = createSync({
  description:
    'Tasks and subtasks that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['wsReadOnly'],
  models: { Ticket },
  checkpoint: z.object({
    /** Of the tasks that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** Of the page at which an interrupted run goes on. */
    token: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // Those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    const pages = svc.paginate<WrikeTask>({
      endpoint: '/tasks',
      params: {
        subTasks: true,
        fields: JSON.stringify(taskFields),
        updatedDate: since === '' ? undefined : JSON.stringify({ start: since }),
        // By creation: one that changes meanwhile moves no other to a page that was read.
        sortField: 'CreatedDate',
        sortOrder: 'Asc',
        nextPageToken: checkpoint?.token,
      },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'nextPageToken',
        cursor_path_in_response: 'nextPageToken',
        response_path: 'data',
        limit_name_in_request: 'pageSize',
        limit: 1000,
        on_page: async ({ nextPageParam: token }) => {
          if (token === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, token: String(token) });
        },
      },
      retries: 5,
    });
    for await (const tasks of pages) await svc.batchSave(tasks.map(ticketOf), 'Ticket');
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

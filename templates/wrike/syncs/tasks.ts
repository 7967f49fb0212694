import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { pagesFrom } from '../../shared/page-tokens.js';
import { nextSinceIso } from '../../shared/since.js';
import { taskFields, ticketOf, type WrikeTask } from '../task.js';

interface TasksPage {
  data: WrikeTask[];
  nextPageToken?: string;
}

const sync = createSync({
  description:
    'Tasks and subtasks that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
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
    const pages = pagesFrom(checkpoint?.token ?? '', (nextPageToken) =>
      svc.get<TasksPage>({
        endpoint: '/tasks',
        params: {
          subTasks: true,
          fields: JSON.stringify(taskFields),
          updatedDate: since === '' ? undefined : JSON.stringify({ start: since }),
          // By creation: one that changes meanwhile moves no other to a page that was read.
          sortField: 'CreatedDate',
          sortOrder: 'Asc',
          pageSize: 1000,
          nextPageToken,
        },
        retries: 5,
      }),
    );
    for await (const { page, pageToken: token } of pages) {
      await svc.batchSave(page.data.map(ticketOf), 'Ticket');
      if (token !== '') await svc.saveCheckpoint({ since, nextSince: next, token });
    }
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

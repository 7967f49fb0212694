import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { nextSince } from '../../shared/since.js';
import { ticketOf, type ClickupTask } from '../task.js';

const sync = createSync({
  description:
    'Tasks whose home is the list, with their subtasks; deleted and archived ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every 30 minutes',
  autoStart: false,
  models: { Ticket },
  /** The address of the list shows the id. */
  metadata: z.object({ listId: z.string() }),
  checkpoint: z.object({
    /** Of the tasks that this run asks for, milliseconds since the epoch; 0: all. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.number().optional(),
  }),

  exec: async (svc) => {
    const { listId } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? nextSince();
    // The list has no deleted tasks: those that a run from the start does not find are gone.
    if (since === 0) await svc.trackDeletesStart('Ticket');
    for (let page = checkpoint?.page ?? 0, isLast = false; !isLast;) {
      const { data } = await svc.get<{ tasks: ClickupTask[]; last_page?: boolean }>({
        endpoint: `/list/${listId}/task`,
        params: {
          page,
          // By creation: a task that changes meanwhile moves no other to a page that was read.
          order_by: 'created',
          subtasks: true,
          include_closed: true,
          date_updated_gt: since === 0 ? undefined : since,
        },
        retries: 5,
      });
      await svc.batchSave(data.tasks.map(ticketOf), 'Ticket');
      isLast = data.last_page ?? data.tasks.length === 0;
      page += 1;
      if (!isLast) await svc.saveCheckpoint({ since, nextSince: next, page });
    }
    if (since === 0) await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

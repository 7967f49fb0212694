import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { nextSince } from '../../shared/since.js';
import { pagesOf } from '../pages.js';
import { taskFields, ticketOf, type AsanaTask } from '../task.js';

const sync = createSync({
  description:
    'Tasks of a project; those that left it or were deleted are found by a run from the start',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: false,
  scopes: ['tasks:read'],
  models: { Ticket },
  /** The gid of the project, which its address shows. */
  metadata: z.object({ project: z.string() }),
  checkpoint: z.object({
    /** Of the tasks that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    offset: z.string().optional(),
  }),

  exec: async (svc) => {
    const { project } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted tasks: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    const pages = pagesOf<AsanaTask>(svc, {
      endpoint: '/tasks',
      params: { project, modified_since: since || undefined, opt_fields: taskFields },
      offset: checkpoint?.offset ?? '',
    });
    for await (const { rows, offset } of pages) {
      await svc.batchSave(
        rows.map((task) => ticketOf(task, project)),
        'Ticket',
      );
      if (offset !== '') await svc.saveCheckpoint({ since, nextSince: next, offset });
    }
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { changesOf } from '../changes.js';
import { ticketOf, type TodoistTask } from '../task.js';

const sync = createSync({
  description:
    'Tasks that are open, or were completed since the first run; deleted ones are deleted, and completed ones when Todoist lists everything again',
  version: '1.0.2',
  frequency: 'every 15 minutes',
  autoStart: true,
  scopes: ['data:read'],
  models: { Ticket },
  /** Lists what changes after it. */
  checkpoint: z.object({ token: z.string() }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    // Todoist has no pages.
    const changes = await changesOf<TodoistTask>(svc, 'items', checkpoint?.token ?? '');
    if (changes.isFull) await svc.trackDeletesStart('Ticket');
    const present = changes.items.filter((item) => !item.is_deleted);
    const deleted = changes.items.filter((item) => item.is_deleted);
    await svc.batchSave(present.map(ticketOf), 'Ticket');
    await svc.batchDelete(
      deleted.map(({ id }) => ({ id })),
      'Ticket',
    );
    if (changes.isFull) await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ token: changes.token });
  },
});

export default sync;

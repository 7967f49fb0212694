import { createSync } from 'svc';
import { z } from 'zod';
import { TicketCollection } from '../../models/ticketing.js';
import { changesOf } from '../changes.js';
import { collectionOf, type TodoistProject } from '../project.js';

const sync = createSync({
  description:
    'Projects that are active, or were archived since the first run; deleted ones are deleted, and archived ones when Todoist lists everything again',
  version: '1.0.2',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['data:read'],
  models: { TicketCollection },
  /** Lists what changes after it. */
  checkpoint: z.object({ token: z.string() }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    // Todoist has no pages.
    const changes = await changesOf<TodoistProject>(svc, 'projects', checkpoint?.token ?? '');
    if (changes.isFull) await svc.trackDeletesStart('TicketCollection');
    const present = changes.items.filter((item) => !item.is_deleted);
    const deleted = changes.items.filter((item) => item.is_deleted);
    await svc.batchSave(present.map(collectionOf), 'TicketCollection');
    await svc.batchDelete(
      deleted.map(({ id }) => ({ id })),
      'TicketCollection',
    );
    if (changes.isFull) await svc.trackDeletesEnd('TicketCollection');
    await svc.saveCheckpoint({ token: changes.token });
  },
});

export default sync;

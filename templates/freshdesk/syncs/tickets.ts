import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { nextSinceIso } from '../../shared/since.js';
import { beginning, changedPages } from '../changes.js';
import { ticketOf, type FreshdeskTicket } from '../ticket.js';

const sync = createSync({
  description:
    'Tickets that were changed since the last run, without those in the trash; one that becomes spam stays as it was',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Ticket },
  checkpoint: z.object({
    /** The next changes to ask for. */
    since: z.string(),
    page: z.number().optional(),
    /** Where the next run begins. */
    nextSince: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const nextSince = checkpoint?.nextSince ?? nextSinceIso();
    const pages = changedPages<FreshdeskTicket>(svc, {
      endpoint: '/api/v2/tickets',
      sinceName: 'updated_since',
      params: { order_by: 'updated_at', order_type: 'asc', include: 'description' },
      since: checkpoint?.since ?? beginning,
      page: checkpoint?.page ?? 1,
    });
    for await (const { items, next } of pages) {
      await svc.batchSave(items.map(ticketOf), 'Ticket');
      if (next !== undefined) await svc.saveCheckpoint({ ...next, nextSince });
    }
    // The whole trash: nothing says that a deletion is a change of the ticket.
    const trash = svc.paginate<{ id: number }>({
      endpoint: '/api/v2/tickets',
      params: { filter: 'deleted', updated_since: beginning },
      paginate: { limit: 100 },
      retries: 5,
    });
    for await (const tickets of trash) {
      await svc.batchDelete(
        tickets.map(({ id }) => ({ id: String(id) })),
        'Ticket',
      );
    }
    await svc.saveCheckpoint({ since: nextSince });
  },
});

export default sync;

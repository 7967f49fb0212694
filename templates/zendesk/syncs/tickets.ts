import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { exportedPages } from '../export.js';
import { ticketOf, type ZendeskTicket } from '../ticket.js';

const sync = createSync({
  description: 'Tickets that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['read'],
  models: { Ticket },
  /** Behind what was saved: the next page, or what changes after the last one. */
  checkpoint: z.object({ cursor: z.string() }),

  exec: async (svc) => {
    const lastCursor = (await svc.getCheckpoint())?.cursor;
    for await (const { items, cursor } of exportedPages<ZendeskTicket>(
      svc,
      'tickets',
      lastCursor,
    )) {
      const present = items.filter(({ status }) => status !== 'deleted');
      await svc.batchSave(present.map(ticketOf), 'Ticket');
      const deleted = items.filter((item) => !present.includes(item));
      await svc.batchDelete(
        deleted.map(({ id }) => ({ id: String(id) })),
        'Ticket',
      );
      if (cursor !== undefined) await svc.saveCheckpoint({ cursor });
    }
  },
});

export default sync;

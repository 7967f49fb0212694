import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { nextSinceIso } from '../../shared/since.js';
import { changedSince } from '../changes.js';
import { ticketOf, type GorgiasTicket } from '../ticket.js';

const sync = createSync({
  description:
    'Tickets that were changed or moved to the trash since the last run; those that were deleted forever are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Ticket },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // No list has what was deleted forever: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    const pages = changedSince<GorgiasTicket>(svc, {
      endpoint: '/tickets',
      params: { trashed: true },
      since,
      cursor: checkpoint?.cursor,
      savePosition: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const tickets of pages) {
      const isTrashed = (ticket: GorgiasTicket) => Boolean(ticket.trashed_datetime);
      const present = tickets.filter((ticket) => !isTrashed(ticket));
      await svc.batchSave(present.map(ticketOf), 'Ticket');
      await svc.batchDelete(
        tickets.filter(isTrashed).map(({ id }) => ({ id: String(id) })),
        'Ticket',
      );
    }
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

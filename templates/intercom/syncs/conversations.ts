import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { nextSince } from '../../shared/since.js';
import { ticketOf, type IntercomConversation } from '../conversation.js';
import { changedDocuments } from '../search.js';

const sync = createSync({
  description:
    'Conversations that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Ticket },
  checkpoint: z.object({
    /** Of the changes that this run asks for, in seconds since the epoch; 0: all. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** The page at which an interrupted run goes on. */
    cursor: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor(nextSince() / 1000);
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === 0) await svc.trackDeletesStart('Ticket');
    const pages = changedDocuments<IntercomConversation>(svc, {
      type: 'conversations',
      path: 'conversations',
      since,
      cursor: checkpoint?.cursor,
      onPage: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const conversations of pages)
      await svc.batchSave(conversations.map(ticketOf), 'Ticket');
    if (since === 0) await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

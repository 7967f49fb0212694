import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { requestOf } from '../../shared/links.js';
import { nextSinceIso } from '../../shared/since.js';
import { ticketOf, type HelpScoutConversation } from '../conversation.js';

const sync = createSync({
  description:
    'Conversations that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  models: { Ticket },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    // By creation: a conversation that changes meanwhile moves no other to a page that was read.
    const first = {
      endpoint: '/conversations',
      params: {
        status: 'all',
        sortField: 'createdAt',
        sortOrder: 'asc',
        modifiedSince: since || undefined,
      },
    };
    const pages = svc.paginate<HelpScoutConversation>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        response_path: '_embedded.conversations',
        on_page: async ({ nextPageParam: page }) => {
          if (page === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, page: String(page) });
        },
      },
      retries: 5,
    });
    for await (const conversations of pages) {
      // A page without conversations may have no list of them.
      const listed = Array.isArray(conversations) ? conversations : [];
      await svc.batchSave(listed.map(ticketOf), 'Ticket');
    }
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

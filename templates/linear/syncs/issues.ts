import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { nextSince } from '../../shared/since.js';
import { pagesOf } from '../graphql.js';
import { issuesQuery, ticketOf, type LinearIssue } from '../issue.js';

const sync = createSync({
  description:
    'Issues that were changed or put into the trash since the last run; archived ones stay',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['read'],
  models: { Ticket },
  checkpoint: z.object({
    /** Of the issues that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The position at which an interrupted run goes on. */
    after: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The trash is emptied: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    // An issue in the trash is archived.
    const changed = { or: [{ updatedAt: { gte: since } }, { archivedAt: { gte: since } }] };
    const pages = pagesOf<LinearIssue>(svc, {
      name: 'issues',
      query: issuesQuery,
      variables: since === '' ? {} : { filter: changed },
      after: checkpoint?.after ?? '',
    });
    for await (const { nodes, after } of pages) {
      const trashed = nodes.filter((issue) => issue.trashed === true);
      const present = nodes.filter((issue) => issue.trashed !== true);
      await svc.batchSave(present.map(ticketOf), 'Ticket');
      await svc.batchDelete(
        trashed.map(({ id }) => ({ id })),
        'Ticket',
      );
      if (after !== '') await svc.saveCheckpoint({ since, nextSince: next, after });
    }
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

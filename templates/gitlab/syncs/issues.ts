import { createSync } from 'svc';
import { z } from 'zod';
import { Ticket } from '../../models/ticketing.js';
import { requestOf } from '../../shared/links.js';
import { nextSince } from '../../shared/since.js';
import { ticketOf, type GitlabIssue } from '../issue.js';

const sync = createSync({
  description: 'Issues of a project; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: false,
  scopes: ['read_api'],
  models: { Ticket },
  /** Id or path of the project: `group/project`. */
  metadata: z.object({ project: z.string() }),
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const { project } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted ones: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Ticket');
    const first = {
      endpoint: `/api/v4/projects/${encodeURIComponent(project)}/issues`,
      params: {
        scope: 'all',
        state: 'all',
        // By creation: one that changes meanwhile moves no other to a page that was read.
        order_by: 'created_at',
        sort: 'asc',
        updated_after: since || undefined,
        per_page: 100,
      },
    };
    const pages = svc.paginate<GitlabIssue>({
      ...(checkpoint?.page === undefined ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_rel_in_response_header: 'next',
        on_page: async ({ nextPageParam: page }) => {
          if (page === undefined) return;
          await svc.saveCheckpoint({ since, nextSince: next, page: String(page) });
        },
      },
      retries: 5,
    });
    for await (const page of pages) await svc.batchSave(page.map(ticketOf), 'Ticket');
    if (since === '') await svc.trackDeletesEnd('Ticket');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

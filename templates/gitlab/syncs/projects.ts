import { createSync } from 'svc';
import { z } from 'zod';
import { TicketCollection } from '../../models/ticketing.js';
import { requestOf } from '../../shared/links.js';
import { collectionOf, type GitlabProject } from '../project.js';

const sync = createSync({
  description: 'All projects of which the person is a member; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read_api'],
  models: { TicketCollection },
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ page: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('TicketCollection');
    const checkpoint = await svc.getCheckpoint();
    // By id with keyset pagination: no project moves to another page.
    const first = {
      endpoint: '/api/v4/projects',
      params: {
        membership: true,
        order_by: 'id',
        sort: 'asc',
        pagination: 'keyset',
        per_page: 100,
      },
    };
    const pages = svc.paginate<GitlabProject>({
      ...(checkpoint === null ? first : requestOf(checkpoint.page)),
      paginate: {
        type: 'link',
        link_rel_in_response_header: 'next',
        on_page: async ({ nextPageParam: page }) => {
          if (page !== undefined) await svc.saveCheckpoint({ page: String(page) });
        },
      },
      retries: 5,
    });
    for await (const projects of pages) {
      await svc.batchSave(projects.map(collectionOf), 'TicketCollection');
    }
    await svc.trackDeletesEnd('TicketCollection');
    await svc.clearCheckpoint();
  },
});

export default sync;

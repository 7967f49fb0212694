import { createSync } from 'svc';
import { z } from 'zod';
import { TicketCollection } from '../../models/ticketing.js';
import { pagesOf } from '../graphql.js';
import { collectionOf, teamsQuery, type LinearTeam } from '../team.js';

const sync = createSync({
  description: 'All teams; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read'],
  models: { TicketCollection },
  /** The position at which an interrupted run goes on. */
  checkpoint: z.object({ after: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('TicketCollection');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<LinearTeam>(svc, {
      name: 'teams',
      query: teamsQuery,
      variables: {},
      after: checkpoint?.after ?? '',
    });
    for await (const { nodes, after } of pages) {
      await svc.batchSave(nodes.map(collectionOf), 'TicketCollection');
      if (after !== '') await svc.saveCheckpoint({ after });
    }
    await svc.trackDeletesEnd('TicketCollection');
    await svc.clearCheckpoint();
  },
});

export default sync;

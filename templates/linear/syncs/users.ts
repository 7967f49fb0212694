import { createSync } from 'svc';
import { z } from 'zod';
import { pagesOf } from '../graphql.js';
import { LinearUser, userOf, usersQuery, type LinearApiUser } from '../user.js';

const sync = createSync({
  description: 'All users, those who were suspended too; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read'],
  models: { LinearUser },
  /** The position at which an interrupted run goes on. */
  checkpoint: z.object({ after: z.string() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('LinearUser');
    const checkpoint = await svc.getCheckpoint();
    const pages = pagesOf<LinearApiUser>(svc, {
      name: 'users',
      query: usersQuery,
      variables: {},
      after: checkpoint?.after ?? '',
    });
    for await (const { nodes, after } of pages) {
      await svc.batchSave(nodes.map(userOf), 'LinearUser');
      if (after !== '') await svc.saveCheckpoint({ after });
    }
    await svc.trackDeletesEnd('LinearUser');
    await svc.clearCheckpoint();
  },
});

export default sync;

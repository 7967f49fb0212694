import { createSync } from 'svc';
import { z } from 'zod';
import { DirectoryUser } from '../../models/directory.js';
import { nextSince } from '../../shared/since.js';
import { beginning, searchRequest } from '../search.js';
import { userOf, type OktaUser } from '../user.js';

const sync = createSync({
  description:
    'Users that were changed or deactivated since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['okta.users.read'],
  models: { DirectoryUser },
  checkpoint: z.object({
    /** Of the changes that this run asks for; ISO 8601. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** Of the page at which an interrupted run goes on. */
    link: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? beginning;
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted users: those that a run from the start does not find are gone.
    if (since === beginning) await svc.trackDeletesStart('DirectoryUser');
    const request = searchRequest({
      endpoint: '/api/v1/users',
      since,
      link: checkpoint?.link,
      onPage: (link) => svc.saveCheckpoint({ since, nextSince: next, link }),
    });
    for await (const page of svc.paginate<OktaUser>(request)) {
      await svc.batchSave(page.map(userOf), 'DirectoryUser');
    }
    if (since === beginning) await svc.trackDeletesEnd('DirectoryUser');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { DirectoryGroup } from '../../models/directory.js';
import { nextSince } from '../../shared/since.js';
import { groupOf, type OktaGroup } from '../group.js';
import { beginning, searchRequest } from '../search.js';

const sync = createSync({
  description:
    'Groups that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['okta.groups.read'],
  models: { DirectoryGroup },
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
    // The list has no deleted groups: those that a run from the start does not find are gone.
    if (since === beginning) await svc.trackDeletesStart('DirectoryGroup');
    const request = searchRequest({
      endpoint: '/api/v1/groups',
      since,
      link: checkpoint?.link,
      onPage: (link) => svc.saveCheckpoint({ since, nextSince: next, link }),
    });
    for await (const page of svc.paginate<OktaGroup>(request)) {
      await svc.batchSave(page.map(groupOf), 'DirectoryGroup');
    }
    if (since === beginning) await svc.trackDeletesEnd('DirectoryGroup');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

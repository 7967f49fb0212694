import { createSync } from 'svc';
import { z } from 'zod';
import { Company } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { changedObjects } from '../changes.js';
import { companyOf, type PipedriveOrganization } from '../organization.js';

const sync = createSync({
  description:
    'Organizations that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['contacts:read'],
  models: { Company },
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
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Company');
    const pages = changedObjects<PipedriveOrganization>(svc, {
      type: 'organizations',
      since,
      cursor: checkpoint?.cursor,
      onPage: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const organizations of pages)
      await svc.batchSave(organizations.map(companyOf), 'Company');
    if (since === '') await svc.trackDeletesEnd('Company');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

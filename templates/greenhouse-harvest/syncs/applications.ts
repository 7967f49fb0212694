import { createSync } from 'svc';
import { z } from 'zod';
import { Application } from '../../models/recruiting.js';
import { nextSince } from '../../shared/since.js';
import { applicationOf, type GreenhouseApplication } from '../application.js';
import { listPages } from '../list.js';

const sync = createSync({
  description:
    'Applications that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['harvest:applications:list'],
  models: { Application },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: everything. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // The list has no deleted ones: those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('Application');
    const pages = listPages<GreenhouseApplication>(svc, {
      endpoint: '/v3/applications',
      since,
      page: checkpoint?.page,
      savePage: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const applications of pages)
      await svc.batchSave(applications.map(applicationOf), 'Application');
    if (since === '') await svc.trackDeletesEnd('Application');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

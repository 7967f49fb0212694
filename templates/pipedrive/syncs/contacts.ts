import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { changedObjects } from '../changes.js';
import { contactOf, type PipedrivePerson } from '../person.js';

const sync = createSync({
  description:
    'Persons that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['contacts:read'],
  models: { Contact },
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
    if (since === '') await svc.trackDeletesStart('Contact');
    const pages = changedObjects<PipedrivePerson>(svc, {
      type: 'persons',
      since,
      cursor: checkpoint?.cursor,
      onPage: (cursor) => svc.saveCheckpoint({ since, nextSince: next, cursor }),
    });
    for await (const persons of pages) await svc.batchSave(persons.map(contactOf), 'Contact');
    if (since === '') await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

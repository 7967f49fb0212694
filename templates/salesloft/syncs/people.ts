import { createSync } from 'svc';
import { Contact } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { changedSince, Position } from '../lists.js';
import { contactOf, type SalesloftPerson } from '../person.js';

const sync = createSync({
  description:
    'People that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Contact },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Contact');
    const pages = changedSince<SalesloftPerson>(svc, {
      resource: 'people',
      since,
      page: checkpoint?.page ?? 1,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const people of pages) await svc.batchSave(people.map(contactOf), 'Contact');
    if (since === '') await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

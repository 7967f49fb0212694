import { createSync } from 'svc';
import { Contact } from '../../models/crm.js';
import { nextSince } from '../../shared/since.js';
import { changedSince, dayOf, Position } from '../lists.js';
import { contactOf, type OutreachProspect } from '../prospect.js';

const sync = createSync({
  description:
    'Prospects that were changed since the day of the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['prospects.read'],
  models: { Contact },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? dayOf(nextSince());
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Contact');
    const pages = changedSince<OutreachProspect>(svc, {
      resource: 'prospects',
      since,
      page: checkpoint?.page,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const prospects of pages) await svc.batchSave(prospects.map(contactOf), 'Contact');
    if (since === '') await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { Company } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { companyOf, type SalesloftAccount } from '../account.js';
import { changedSince, Position } from '../lists.js';

const sync = createSync({
  description:
    'Accounts that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Company },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === '') await svc.trackDeletesStart('Company');
    const pages = changedSince<SalesloftAccount>(svc, {
      resource: 'accounts',
      since,
      page: checkpoint?.page ?? 1,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const accounts of pages) await svc.batchSave(accounts.map(companyOf), 'Company');
    if (since === '') await svc.trackDeletesEnd('Company');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

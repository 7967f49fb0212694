import { createSync } from 'svc';
import { z } from 'zod';
import { Company } from '../../models/crm.js';
import { companyOf, type AttioCompanyValues } from '../company.js';
import { recordsFrom } from '../record.js';

const sync = createSync({
  description: 'All companies; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['record_permission:read', 'object_configuration:read'],
  models: { Company },
  /** Records before it are saved: an interrupted run goes on there. */
  checkpoint: z.object({ offset: z.number() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Company');
    let offset = (await svc.getCheckpoint())?.offset ?? 0;
    for await (const records of recordsFrom<AttioCompanyValues>(svc, 'companies', offset)) {
      await svc.batchSave(records.map(companyOf), 'Company');
      offset += records.length;
      await svc.saveCheckpoint({ offset });
    }
    await svc.trackDeletesEnd('Company');
    await svc.clearCheckpoint();
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { contactOf, type AttioPersonValues } from '../person.js';
import { recordsFrom } from '../record.js';

const sync = createSync({
  description: 'All people; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['record_permission:read', 'object_configuration:read'],
  models: { Contact },
  /** Records before it are saved: an interrupted run goes on there. */
  checkpoint: z.object({ offset: z.number() }),

  exec: async (svc) => {
    await svc.trackDeletesStart('Contact');
    let offset = (await svc.getCheckpoint())?.offset ?? 0;
    for await (const records of recordsFrom<AttioPersonValues>(svc, 'people', offset)) {
      await svc.batchSave(records.map(contactOf), 'Contact');
      offset += records.length;
      await svc.saveCheckpoint({ offset });
    }
    await svc.trackDeletesEnd('Contact');
    await svc.clearCheckpoint();
  },
});

export default sync;

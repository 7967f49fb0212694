import { createSync } from 'svc';
import { z } from 'zod';
import { Company } from '../../models/crm.js';
import { nextSinceIso } from '../../shared/since.js';
import { accountFields, companyOf, type SalesforceAccount } from '../account.js';
import { changedRecords } from '../query.js';

const sync = createSync({
  description:
    'Accounts that were changed since the last run; deleted ones are deleted while they are in the recycle bin',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['api', 'refresh_token'],
  models: { Company },
  checkpoint: z.object({
    /** Of the changes that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The record after which an interrupted run goes on. */
    lastId: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const nextSince = checkpoint?.nextSince ?? nextSinceIso();
    const pages = changedRecords<SalesforceAccount>(svc, {
      type: 'Account',
      fields: accountFields,
      since,
      lastId: checkpoint?.lastId,
    });
    for await (const records of pages) {
      const present = records.filter((record) => !record.IsDeleted);
      await svc.batchSave(present.map(companyOf), 'Company');
      const deleted = records.filter((record) => record.IsDeleted);
      await svc.batchDelete(
        deleted.map(({ Id: id }) => ({ id })),
        'Company',
      );
      const lastId = records.at(-1)?.Id;
      if (lastId !== undefined) await svc.saveCheckpoint({ since, nextSince, lastId });
    }
    await svc.saveCheckpoint({ since: nextSince });
  },
});

export default sync;

import { createSync } from 'svc';
import { AccountingContact } from '../../models/accounting.js';
import { nextSince } from '../../shared/since.js';
import { contactOf, type QuickbooksCustomer } from '../customer.js';
import { changed, Position } from '../query.js';

const sync = createSync({
  description:
    'Customers that were changed since the last run; deleted ones are not active, those merged into others remain as they were',
  version: '1.0.2',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['com.intuit.quickbooks.accounting'],
  models: { AccountingContact },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    const pages = changed<QuickbooksCustomer>(svc, {
      entity: 'Customer',
      // Without it a query returns active customers alone.
      where: ['Active in (true, false)'],
      since,
      position: checkpoint ?? {},
      savePosition: (position) => svc.saveCheckpoint({ since, nextSince: next, ...position }),
    });
    for await (const customers of pages)
      await svc.batchSave(customers.map(contactOf), 'AccountingContact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

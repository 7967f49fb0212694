import { createSync } from 'svc';
import { Invoice } from '../../models/accounting.js';
import { nextSince } from '../../shared/since.js';
import { invoiceOf, type QuickbooksInvoice } from '../invoice.js';
import { changed, deletedSince, Position } from '../query.js';

const sync = createSync({
  description: 'Invoices that were changed or deleted since the last run',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['com.intuit.quickbooks.accounting'],
  models: { Invoice },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    // A query returns no deleted invoices: what was deleted before this run is what it does not find.
    if (since === '') await svc.trackDeletesStart('Invoice');
    const pages = changed<QuickbooksInvoice>(svc, {
      entity: 'Invoice',
      where: [],
      since,
      position: checkpoint ?? {},
      savePosition: (position) => svc.saveCheckpoint({ since, nextSince: next, ...position }),
    });
    for await (const invoices of pages) await svc.batchSave(invoices.map(invoiceOf), 'Invoice');
    if (since !== '') await svc.batchDelete(await deletedSince(svc, 'Invoice', since), 'Invoice');
    if (since === '') await svc.trackDeletesEnd('Invoice');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { Invoice } from '../../models/accounting.js';
import { nextSince } from '../../shared/since.js';
import { invoiceOf, type XeroInvoice } from '../invoice.js';
import { changed, Position } from '../lists.js';

const sync = createSync({
  description:
    'Invoices and bills that were changed or deleted since the last run. A new due date of one that is partly paid is no change: a run from the start finds it',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['accounting.invoices.read'],
  models: { Invoice },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    const pages = changed<XeroInvoice>(svc, {
      endpoint: '/api.xro/2.0/Invoices',
      documents: 'Invoices',
      params: { order: 'InvoiceID ASC' },
      since,
      page: checkpoint?.page ?? 1,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const invoices of pages) {
      const living = invoices.filter(({ Status: status }) => status !== 'DELETED');
      const gone = invoices.filter(({ Status: status }) => status === 'DELETED');
      await svc.batchSave(living.map(invoiceOf), 'Invoice');
      if (gone.length > 0)
        await svc.batchDelete(
          gone.map(({ InvoiceID: id }) => ({ id })),
          'Invoice',
        );
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

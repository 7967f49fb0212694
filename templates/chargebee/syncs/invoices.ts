import { createSync } from 'svc';
import { Invoice } from '../../models/accounting.js';
import { nextSince } from '../../shared/since.js';
import { invoiceOf, type ChargebeeInvoice } from '../invoice.js';
import { changed, Position } from '../lists.js';

const sync = createSync({
  description: 'Invoices that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Invoice },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor(nextSince() / 1000);
    const pages = changed<{ invoice: ChargebeeInvoice }>(svc, {
      resource: 'invoices',
      order: 'date',
      since,
      offset: checkpoint?.offset,
      savePosition: (offset) => svc.saveCheckpoint({ since, nextSince: next, offset }),
    });
    for await (const page of pages) {
      const invoices = page.map((entry) => entry.invoice);
      const living = invoices.filter(({ deleted }) => !deleted);
      const gone = invoices.filter(({ deleted }) => deleted).map(({ id }) => ({ id }));
      await svc.batchSave(living.map(invoiceOf), 'Invoice');
      if (gone.length > 0) await svc.batchDelete(gone, 'Invoice');
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

import { createSync } from 'svc';
import { z } from 'zod';
import { InvoiceSummary, invoiceOf, type StripeInvoice } from '../invoice.js';
import { listed } from '../lists.js';

const sync = createSync({
  description: 'All invoices without their lines; drafts that are gone are deleted',
  version: '1.0.2',
  frequency: 'every 6 hours',
  autoStart: true,
  scopes: ['read_only'],
  models: { InvoiceSummary },
  /** The invoice after which an interrupted run goes on. */
  checkpoint: z.object({ lastId: z.string() }),

  exec: async (svc) => {
    // The list can be filtered by creation alone, which shows no later change.
    await svc.trackDeletesStart('InvoiceSummary');
    const lastId = (await svc.getCheckpoint())?.lastId;
    for await (const invoices of listed<StripeInvoice>(svc, '/v1/invoices', lastId)) {
      await svc.batchSave(invoices.map(invoiceOf), 'InvoiceSummary');
      const last = invoices.at(-1)?.id;
      if (last !== undefined) await svc.saveCheckpoint({ lastId: last });
    }
    await svc.trackDeletesEnd('InvoiceSummary');
    await svc.clearCheckpoint();
  },
});

export default sync;

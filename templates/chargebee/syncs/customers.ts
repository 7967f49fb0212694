import { createSync } from 'svc';
import { Customer } from '../../models/commerce.js';
import { nextSince } from '../../shared/since.js';
import { customerOf, type ChargebeeCustomer } from '../customer.js';
import { changed, Position } from '../lists.js';

const sync = createSync({
  description: 'Customers that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  models: { Customer },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor(nextSince() / 1000);
    const pages = changed<{ customer: ChargebeeCustomer }>(svc, {
      resource: 'customers',
      order: 'created_at',
      since,
      offset: checkpoint?.offset,
      savePosition: (offset) => svc.saveCheckpoint({ since, nextSince: next, offset }),
    });
    for await (const page of pages) {
      const customers = page.map((entry) => entry.customer);
      const living = customers.filter(({ deleted }) => !deleted);
      const gone = customers.filter(({ deleted }) => deleted).map(({ id }) => ({ id }));
      await svc.batchSave(living.map(customerOf), 'Customer');
      if (gone.length > 0) await svc.batchDelete(gone, 'Customer');
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

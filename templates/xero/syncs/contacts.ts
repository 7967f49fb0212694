import { createSync } from 'svc';
import { AccountingContact } from '../../models/accounting.js';
import { nextSince } from '../../shared/since.js';
import { contactOf, type XeroContact } from '../contact.js';
import { changed, Position } from '../lists.js';

const sync = createSync({
  description:
    'Contacts that were changed since the last run; archived ones are not active. That one became a customer or supplier is no change: a run from the start finds it',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['accounting.contacts.read'],
  models: { AccountingContact },
  checkpoint: Position,

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? new Date(nextSince()).toISOString();
    const pages = changed<XeroContact>(svc, {
      endpoint: '/api.xro/2.0/Contacts',
      documents: 'Contacts',
      params: { order: 'ContactID ASC', includeArchived: true },
      since,
      page: checkpoint?.page ?? 1,
      savePosition: (page) => svc.saveCheckpoint({ since, nextSince: next, page }),
    });
    for await (const contacts of pages)
      await svc.batchSave(contacts.map(contactOf), 'AccountingContact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

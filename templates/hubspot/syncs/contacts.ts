import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { nextSince } from '../../shared/since.js';
import { contactOf, contactProperties, type HubspotContact } from '../contact.js';
import { archivedObjects, changedObjects } from '../objects.js';

const sync = createSync({
  description: 'Contacts that were changed or deleted since the last run',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['crm.objects.contacts.read'],
  models: { Contact },
  /** `since` of this run and the next; `lastId`: where an interrupted run goes on. */
  checkpoint: z.object({
    since: z.number(),
    nextSince: z.number().optional(),
    lastId: z.string().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? nextSince();
    const pages = changedObjects<HubspotContact['properties']>(svc, {
      type: 'contacts',
      properties: contactProperties,
      changedProperty: 'lastmodifieddate',
      since,
      lastId: checkpoint?.lastId,
    });
    for await (const contacts of pages) {
      await svc.batchSave(contacts.map(contactOf), 'Contact');
      const lastId = contacts.at(-1)?.id;
      if (lastId !== undefined) await svc.saveCheckpoint({ since, nextSince: next, lastId });
    }
    for await (const archived of archivedObjects(svc, 'contacts')) {
      await svc.batchDelete(
        archived.map(({ id }) => ({ id })),
        'Contact',
      );
    }
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

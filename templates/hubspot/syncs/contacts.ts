import { createSync } from 'svc';
import { z } from 'zod';
import { Contact } from '../../models/crm.js';
import { nextSince } from '../../shared/since.js';
import { contactOf, contactProperties, type HubspotContact } from '../contact.js';
import { archivedObjects, changedObjects } from '../objects.js';

const sync = createSync({
  description:
    'Contacts that were changed or deleted since the last run; those that were merged into others or deleted for good are found by a run from the start',
  version: '1.1.0',
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
    // Only what can be restored is in the list of the archived: what a run from the start does not find is gone.
    if (since === 0) await svc.trackDeletesStart('Contact');
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
    if (since === 0) await svc.trackDeletesEnd('Contact');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;

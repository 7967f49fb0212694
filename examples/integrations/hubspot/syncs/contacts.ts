import { createSync } from 'svc';
import { z } from 'zod';

const Contact = z.object({
  id: z.string(),
  email: z.string().nullable(),
  name: z.string(),
  changedAt: z.string(),
});

interface HubspotContact {
  id: string;
  properties: { email?: string | null; firstname?: string | null; lastname?: string | null };
  updatedAt: string;
}

const sync = createSync({
  description: 'All contacts; those that are gone are deleted here, too',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['crm.objects.contacts.read'],
  models: { Contact },

  exec: async (svc) => {
    await svc.trackDeletesStart('Contact');
    const pages = svc.paginate<HubspotContact>({
      endpoint: '/crm/v3/objects/contacts',
      params: { properties: ['email', 'firstname', 'lastname'] },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'after',
        cursor_path_in_response: 'paging.next.after',
        response_path: 'results',
        limit_name_in_request: 'limit',
        limit: 2,
      },
      retries: 3,
    });
    for await (const contacts of pages) {
      const rows = contacts.map(({ id, properties, updatedAt }) => ({
        id,
        email: properties.email ?? null,
        name: [properties.firstname, properties.lastname].filter(Boolean).join(' '),
        changedAt: updatedAt,
      }));
      await svc.batchSave(rows, 'Contact');
    }
    await svc.trackDeletesEnd('Contact');
  },
});

export default sync;

import { createAction } from 'svc';
import { z } from 'zod';
import { Contact, contactOf, type SentContact } from '../contact.js';

const action = createAction({
  description: 'Gives a contact another name; the provider sends a webhook of the change',
  version: '1.0.0',
  input: z.object({ id: z.string(), name: z.string().min(1) }),
  output: Contact,

  exec: async (svc, { id, name }) => {
    const { data } = await svc.patch<SentContact>({
      endpoint: `/contacts/${encodeURIComponent(id)}`,
      data: { name },
      retries: 3,
    });
    return contactOf(data);
  },
});

export default action;

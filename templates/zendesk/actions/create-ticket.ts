import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Creates a ticket',
  version: '1.0.1',
  scopes: ['write'],
  input: z.object({
    title: z.string().min(1),
    description: z.string().min(1),
    priority: z.enum(['low', 'normal', 'high', 'urgent']).optional(),
    type: z.enum(['problem', 'incident', 'question', 'task']).optional(),
    tags: z.array(z.string()).optional(),
    /** The customer; default: the user of the connection. */
    requester: z.object({ name: z.string().min(1), email: z.email() }).optional(),
  }),
  output: z.object({
    id: z.string(),
    /** Of the ticket in the API. */
    url: z.string(),
  }),

  exec: async (svc, { title, description, ...fields }) => {
    const { data } = await svc.post<{ ticket: { id: number; url: string } }>({
      endpoint: '/api/v2/tickets',
      // A repeated attempt creates no second ticket.
      headers: { 'idempotency-key': crypto.randomUUID() },
      data: { ticket: { subject: title, comment: { body: description }, ...fields } },
      retries: 3,
    });
    return { id: String(data.ticket.id), url: data.ticket.url };
  },
});

export default action;

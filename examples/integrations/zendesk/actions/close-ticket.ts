import { createAction } from 'svc';
import { z } from 'zod';
import { Ticket, ticketOf, type ZendeskTicket } from '../ticket.js';

const action = createAction({
  description: 'Closes a ticket with a last comment',
  version: '1.0.0',
  input: z.object({ id: z.string(), comment: z.string() }),
  output: Ticket,

  exec: async (svc, { id, comment }) => {
    const response = await svc.put<{ ticket: ZendeskTicket }>({
      endpoint: `/api/v2/tickets/${encodeURIComponent(id)}.json`,
      data: { ticket: { status: 'closed', comment: { body: comment } } },
      retries: 3,
    });
    return ticketOf(response.data.ticket);
  },
});

export default action;

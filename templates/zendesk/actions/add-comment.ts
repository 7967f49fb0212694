import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Adds a comment to a ticket',
  version: '1.0.0',
  scopes: ['write'],
  input: z.object({
    ticket_id: z.string().regex(/^\d+$/),
    body: z.string().min(1),
    /** False: agents alone see it. */
    is_public: z.boolean(),
  }),
  output: z.object({ ticket_id: z.string() }),

  exec: async (svc, { ticket_id: ticketId, body, is_public: isPublic }) => {
    try {
      await svc.put({
        endpoint: `/api/v2/tickets/${ticketId}`,
        data: { ticket: { comment: { body, public: isPublic } } },
        retries: 3,
      });
      return { ticket_id: ticketId };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== 404) throw error;
      const message = `There is no ticket ${ticketId}`;
      throw new svc.ActionError({ type: 'ticket_not_found', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Adds a note to a conversation, which the customer does not see',
  version: '1.0.0',
  input: z.object({
    ticket_id: z.string().regex(/^\d+$/),
    body: z.string().min(1),
  }),
  output: z.object({ ticket_id: z.string() }),

  exec: async (svc, { ticket_id: ticketId, body }) => {
    try {
      await svc.post({
        endpoint: `/conversations/${ticketId}/notes`,
        data: { text: body },
        retries: 3,
      });
      return { ticket_id: ticketId };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== 404) throw error;
      const message = `There is no conversation ${ticketId}`;
      throw new svc.ActionError({ type: 'ticket_not_found', message });
    }
  },
});

export default action;

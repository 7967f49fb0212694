import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Adds a comment to a conversation, which teammates alone see',
  version: '1.0.1',
  scopes: ['comments:write'],
  input: z.object({
    ticket_id: z.string().regex(/^cnv_\w+$/),
    body: z.string().min(1),
    /** The teammate who comments; default: the connection. */
    author_id: z.string().min(1).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { ticket_id: ticketId, body, author_id: authorId }) => {
    try {
      const { data } = await svc.post<{ id?: string }>({
        endpoint: `/conversations/${ticketId}/comments`,
        data: { body, author_id: authorId },
        retries: 3,
      });
      // Of a conversation that was merged Front names the other one, and adds nothing.
      if (data.id?.startsWith('com_') !== true) {
        const message = `The conversation ${ticketId} was merged into another one`;
        throw new svc.ActionError({ type: 'ticket_merged', message });
      }
      return { id: data.id };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== 404) throw error;
      const message = `There is no conversation ${ticketId}`;
      throw new svc.ActionError({ type: 'ticket_not_found', message });
    }
  },
});

export default action;

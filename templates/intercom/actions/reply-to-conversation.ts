import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Replies to a conversation as a teammate, or leaves a note in it',
  version: '1.0.0',
  input: z.object({
    ticket_id: z.string().regex(/^\d+$/),
    /** The teammate who replies. */
    author_id: z.string().min(1),
    body: z.string().min(1),
    /** False: a note, which teammates alone see. */
    is_public: z.boolean(),
  }),
  output: z.object({ ticket_id: z.string() }),

  exec: async (svc, { ticket_id: ticketId, author_id: authorId, body, is_public: isPublic }) => {
    try {
      await svc.post({
        endpoint: `/conversations/${ticketId}/reply`,
        data: {
          message_type: isPublic ? 'comment' : 'note',
          type: 'admin',
          admin_id: authorId,
          body,
        },
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

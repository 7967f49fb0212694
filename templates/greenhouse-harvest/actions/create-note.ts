import { createAction } from 'svc';
import { z } from 'zod';
import { refusalOf } from '../refusal.js';

const action = createAction({
  description: 'Adds a note to a candidate',
  version: '1.0.0',
  input: z.object({
    candidate_id: z.string().regex(/^\d+$/),
    body: z.string().min(1),
    visibility: z.enum(['public', 'private', 'admin_only']).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { candidate_id: candidateId, body, visibility = 'public' }) => {
    try {
      const { data } = await svc.post<{ id: number }>({
        endpoint: '/v3/notes',
        data: { candidate_id: Number(candidateId), note_type: 'NOTE', body, visibility },
        retries: 3,
      });
      return { id: String(data.id) };
    } catch (error) {
      const message = refusalOf(error);
      if (message === null) throw error;
      throw new svc.ActionError({ type: 'note_refused', message });
    }
  },
});

export default action;

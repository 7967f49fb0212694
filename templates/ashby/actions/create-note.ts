import { createAction } from 'svc';
import { z } from 'zod';

interface CreateResponse {
  success: boolean;
  results?: { id: string };
  errorInfo?: { code?: string; message?: string };
}

const action = createAction({
  description: 'Adds a note to a candidate',
  version: '1.0.0',
  input: z.object({
    candidate_id: z.string().min(1),
    body: z.string().min(1),
    /** Sends the note to those who follow the candidate. */
    notifies: z.boolean().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { candidate_id: candidateId, body, notifies }) => {
    const { data } = await svc.post<CreateResponse>({
      endpoint: '/candidate.createNote',
      data: { candidateId, note: body, sendNotifications: notifies ?? false },
      retries: 3,
    });
    // A refusal has the status 200 too.
    if (data.results !== undefined && data.success) return { id: data.results.id };
    const { code, message = code } = data.errorInfo ?? {};
    throw new svc.ActionError({ type: 'note_refused', message: message ?? 'Ashby refused' });
  },
});

export default action;

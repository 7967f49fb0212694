import { createAction } from 'svc';
import { z } from 'zod';

interface CreateResponse {
  success: boolean;
  results?: { id: string };
  errorInfo?: { code?: string; message?: string };
}

const action = createAction({
  description: 'Creates a candidate, also where one with the same address exists',
  version: '1.0.0',
  input: z.object({
    name: z.string().min(1),
    email: z.email().optional(),
    phone: z.string().optional(),
    source_id: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { name, email, phone, source_id: sourceId }) => {
    const { data } = await svc.post<CreateResponse>({
      endpoint: '/candidate.create',
      data: { name, email, phoneNumber: phone, sourceId },
      retries: 3,
    });
    // A refusal has the status 200 too.
    if (data.results !== undefined && data.success) return { id: data.results.id };
    const { code, message = code } = data.errorInfo ?? {};
    throw new svc.ActionError({ type: 'candidate_refused', message: message ?? 'Ashby refused' });
  },
});

export default action;

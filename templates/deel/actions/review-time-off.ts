import { createAction } from 'svc';
import { z } from 'zod';

interface ReviewResponse {
  data: { reviewed: { id: string }[]; not_reviewed: { id: string; error: string }[] };
}

const action = createAction({
  description: 'Approves or declines a time off request',
  version: '1.0.1',
  scopes: ['time-off:write'],
  input: z.object({ id: z.string().min(1), status: z.enum(['approved', 'declined']) }),
  output: z.object({ id: z.string(), status: z.enum(['approved', 'declined']) }),

  exec: async (svc, { id, status }) => {
    const { data } = await svc.post<ReviewResponse>({
      endpoint: '/time_offs/review',
      headers: { 'idempotency-key': crypto.randomUUID() },
      data: { data: [{ id, status: status === 'approved' ? 'APPROVED' : 'REJECTED' }] },
      retries: 3,
    });
    const [refused] = data.data.not_reviewed;
    if (refused === undefined) return { id, status };
    throw new svc.ActionError({ type: 'request_not_reviewed', message: refused.error });
  },
});

export default action;

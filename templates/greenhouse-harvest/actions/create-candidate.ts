import { createAction } from 'svc';
import { z } from 'zod';
import { refusalOf } from '../refusal.js';

const action = createAction({
  description: 'Creates a candidate, with an application for a job if one is named',
  version: '1.0.0',
  input: z.object({
    first_name: z.string().min(1),
    last_name: z.string().min(1),
    email: z.email().optional(),
    phone: z.string().optional(),
    company: z.string().optional(),
    title: z.string().optional(),
    tags: z.array(z.string()).optional(),
    job_id: z.string().regex(/^\d+$/).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { email, phone, job_id: jobId, ...candidate }) => {
    try {
      const { data } = await svc.post<{ id: number }>({
        endpoint: '/v3/candidates',
        data: {
          ...candidate,
          email_addresses: email === undefined ? undefined : [{ value: email, type: 'personal' }],
          phone_numbers: phone === undefined ? undefined : [{ value: phone, type: 'mobile' }],
          application: jobId === undefined ? undefined : { job_id: Number(jobId) },
        },
        retries: 3,
      });
      return { id: String(data.id) };
    } catch (error) {
      const message = refusalOf(error);
      if (message === null) throw error;
      throw new svc.ActionError({ type: 'candidate_refused', message });
    }
  },
});

export default action;

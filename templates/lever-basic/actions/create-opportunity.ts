import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { message?: string } };
}

const action = createAction({
  description:
    'Creates an opportunity; a person with the same address gets one more, and keeps the name and contact data that Lever has',
  version: '1.0.1',
  input: z.object({
    /** Id of the user who creates it. */
    perform_as: z.string().min(1),
    name: z.string().min(1),
    email: z.email().optional(),
    phone: z.string().optional(),
    headline: z.string().optional(),
    tags: z.array(z.string()).optional(),
    sources: z.array(z.string()).optional(),
    /** Id of the posting that the person is considered for. */
    job_id: z.string().optional(),
  }),
  output: z.object({ id: z.string(), candidate_id: z.string() }),

  exec: async (svc, { perform_as: performAs, email, phone, job_id: jobId, ...opportunity }) => {
    try {
      const { data } = await svc.post<{ data: { id: string; contact: string } }>({
        endpoint: '/v1/opportunities',
        params: { perform_as: performAs },
        data: {
          ...opportunity,
          emails: email === undefined ? undefined : [email],
          phones: phone === undefined ? undefined : [{ value: phone }],
          postings: jobId === undefined ? undefined : [jobId],
        },
        retries: 3,
      });
      return { id: data.data.id, candidate_id: data.data.contact };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 400) throw error;
      const message = data?.message ?? 'Lever does not accept the opportunity';
      throw new svc.ActionError({ type: 'opportunity_refused', message });
    }
  },
});

export default action;

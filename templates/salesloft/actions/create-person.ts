import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { errors?: Record<string, string[]> } };
}

const action = createAction({
  description: 'Creates a person',
  version: '1.0.0',
  input: z.object({
    email: z.email(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    phone: z.string().optional(),
    job_title: z.string().optional(),
    /** Id of its account. */
    company_id: z.string().regex(/^\d+$/).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const { company_id: companyId } = input;
    try {
      const { data } = await svc.post<{ data: { id: number } }>({
        endpoint: '/v2/people',
        data: {
          email_address: input.email,
          first_name: input.first_name,
          last_name: input.last_name,
          phone: input.phone,
          title: input.job_title,
          account_id: companyId === undefined ? undefined : Number(companyId),
        },
        retries: 3,
      });
      return { id: String(data.data.id) };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 422) throw error;
      const reasons = Object.entries(data?.errors ?? {}).map(
        ([field, messages]) => `${field} ${messages.join(', ')}`,
      );
      const message = reasons.join('; ') || 'Salesloft refuses the person';
      throw new svc.ActionError({ type: 'person_refused', message });
    }
  },
});

export default action;

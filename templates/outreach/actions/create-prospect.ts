import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { errors?: { detail?: string }[] } };
}

const action = createAction({
  description: 'Creates a prospect',
  version: '1.0.0',
  scopes: ['prospects.write'],
  input: z.object({
    email: z.email(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    job_title: z.string().optional(),
    /** Id of its account. */
    company_id: z.string().regex(/^\d+$/).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const { company_id: companyId } = input;
    const account =
      companyId === undefined
        ? undefined
        : { account: { data: { type: 'account', id: Number(companyId) } } };
    try {
      const { data } = await svc.post<{ data: { id: number } }>({
        endpoint: '/api/v2/prospects',
        data: {
          data: {
            type: 'prospect',
            attributes: {
              emails: [input.email],
              firstName: input.first_name,
              lastName: input.last_name,
              title: input.job_title,
            },
            relationships: account,
          },
        },
        retries: 3,
      });
      return { id: String(data.data.id) };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 422) throw error;
      const message = data?.errors?.[0]?.detail ?? 'Outreach refuses the prospect';
      throw new svc.ActionError({ type: 'prospect_refused', message });
    }
  },
});

export default action;

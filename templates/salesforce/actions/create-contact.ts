import { createAction } from 'svc';
import { z } from 'zod';
import { apiPath } from '../query.js';

interface Refusal {
  response?: { status?: number; data?: { errorCode?: string; message?: string }[] };
}

const action = createAction({
  description: 'Creates a contact',
  version: '1.0.0',
  scopes: ['api', 'refresh_token'],
  input: z.object({
    last_name: z.string().min(1),
    first_name: z.string().optional(),
    email: z.email().optional(),
    phone: z.string().optional(),
    job_title: z.string().optional(),
    company_id: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ id: string }>({
        endpoint: `${apiPath}/sobjects/Contact`,
        data: {
          LastName: input.last_name,
          FirstName: input.first_name,
          Email: input.email,
          Phone: input.phone,
          Title: input.job_title,
          AccountId: input.company_id,
        },
        retries: 3,
      });
      return { id: data.id };
    } catch (error) {
      const { data } = (error as Refusal).response ?? {};
      const [refusal] = Array.isArray(data) ? data : [];
      if (refusal?.errorCode !== 'DUPLICATES_DETECTED') throw error;
      const message = refusal.message ?? 'A contact like this exists';
      throw new svc.ActionError({ type: 'contact_exists', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { message?: string } };
}

const action = createAction({
  description: 'Creates a contact',
  version: '1.0.0',
  scopes: ['crm.objects.contacts.write'],
  input: z.object({
    email: z.email(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    phone: z.string().optional(),
    job_title: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const properties = {
      email: input.email,
      firstname: input.first_name,
      lastname: input.last_name,
      phone: input.phone,
      jobtitle: input.job_title,
    };
    try {
      const { data } = await svc.post<{ id: string }>({
        endpoint: '/crm/objects/2026-03/contacts',
        data: { properties },
        retries: 3,
      });
      return { id: data.id };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 409) throw error;
      const message = data?.message ?? 'A contact with this address exists';
      throw new svc.ActionError({ type: 'contact_exists', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { troubleshoot?: string } };
}

const action = createAction({
  description: 'Creates a shared contact',
  version: '1.0.0',
  input: z.object({
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    company: z.string().optional(),
    /** E.164, such as `+15005550006`. */
    phone: z.e164(),
    email: z.email().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const { email } = input;
    try {
      const { data } = await svc.post<{ contact: { id: number } }>({
        endpoint: '/v1/contacts',
        data: {
          first_name: input.first_name,
          last_name: input.last_name,
          company_name: input.company,
          phone_numbers: [{ label: 'Work', value: input.phone }],
          emails: email === undefined ? undefined : [{ label: 'Work', value: email }],
        },
        retries: 3,
      });
      return { id: String(data.contact.id) };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 400) throw error;
      const message = data?.troubleshoot ?? 'Aircall refuses the contact';
      throw new svc.ActionError({ type: 'contact_refused', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { data?: { api_error_code?: string; message?: string } };
}

const action = createAction({
  description: 'Creates a customer',
  version: '1.0.0',
  input: z.object({
    /** Chargebee makes one where it is left out. */
    id: z.string().max(50).optional(),
    email: z.email(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    company: z.string().optional(),
    phone: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(input))
      if (value !== undefined) form.set(name, value);
    try {
      const { data } = await svc.post<{ customer: { id: string } }>({
        endpoint: '/customers',
        headers: { 'chargebee-idempotency-key': crypto.randomUUID() },
        data: form,
        retries: 3,
      });
      return { id: data.customer.id };
    } catch (error) {
      const { data } = (error as Refusal).response ?? {};
      if (data?.api_error_code !== 'duplicate_entry') throw error;
      const message = data.message ?? 'A customer with this id exists';
      throw new svc.ActionError({ type: 'customer_exists', message });
    }
  },
});

export default action;

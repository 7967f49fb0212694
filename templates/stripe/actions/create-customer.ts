import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { data?: { error?: { code?: string; message?: string } } };
}

const action = createAction({
  description: 'Creates a customer',
  version: '1.0.0',
  scopes: ['read_write'],
  input: z.object({
    email: z.email(),
    name: z.string().max(256).optional(),
    phone: z.string().optional(),
    description: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(input))
      if (value !== undefined) form.set(name, value);
    try {
      const { data } = await svc.post<{ id: string }>({
        endpoint: '/v1/customers',
        headers: { 'idempotency-key': crypto.randomUUID() },
        data: form,
        retries: 3,
      });
      return { id: data.id };
    } catch (error) {
      const refusal = (error as Refusal).response?.data?.error;
      if (refusal?.code !== 'email_invalid') throw error;
      const message = refusal.message ?? 'The address is not valid';
      throw new svc.ActionError({ type: 'invalid_email', message });
    }
  },
});

export default action;

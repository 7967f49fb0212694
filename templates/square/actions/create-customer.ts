import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { data?: { errors?: { code: string; detail?: string }[] } };
}

const action = createAction({
  description: 'Creates a customer',
  version: '1.0.0',
  scopes: ['CUSTOMERS_WRITE'],
  input: z.object({
    email: z.email(),
    first_name: z.string().max(300).optional(),
    last_name: z.string().max(300).optional(),
    company: z.string().max(500).optional(),
    phone: z.string().optional(),
    /** Square creates one customer for a key, however often it is asked. */
    idempotency_key: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ customer: { id: string } }>({
        endpoint: '/v2/customers',
        data: {
          idempotency_key: input.idempotency_key ?? crypto.randomUUID(),
          email_address: input.email,
          given_name: input.first_name,
          family_name: input.last_name,
          company_name: input.company,
          phone_number: input.phone,
        },
        retries: 3,
      });
      return { id: data.customer.id };
    } catch (error) {
      const refusals = (error as Refusal).response?.data?.errors ?? [];
      const invalid = refusals.find(({ code }) => code === 'INVALID_PHONE_NUMBER');
      if (invalid === undefined) throw error;
      const message = invalid.detail ?? 'The phone number is not valid';
      throw new svc.ActionError({ type: 'invalid_phone', message });
    }
  },
});

export default action;

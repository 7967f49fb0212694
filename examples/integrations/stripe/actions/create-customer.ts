import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Creates a customer; the provider takes forms, not JSON',
  version: '1.0.0',
  input: z.object({ email: z.email(), name: z.string() }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { email, name }) => {
    const response = await svc.post<{ id: string }>({
      endpoint: '/v1/customers',
      data: new URLSearchParams({ email, name }),
      headers: { 'idempotency-key': `customer-${email}` },
      retries: 3,
    });
    return { id: response.data.id };
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { data?: { error?: { code?: string; message?: string } } };
}

const action = createAction({
  description: 'Refunds what is left of a charge',
  version: '1.0.0',
  scopes: ['read_write'],
  input: z.object({
    charge_id: z.string().min(1),
    reason: z.enum(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
  }),
  output: z.object({ id: z.string(), status: z.string().nullable() }),

  exec: async (svc, { charge_id: charge, reason }) => {
    const form = new URLSearchParams({ charge });
    if (reason !== undefined) form.set('reason', reason);
    try {
      const { data } = await svc.post<{ id: string; status: string | null }>({
        endpoint: '/v1/refunds',
        headers: { 'idempotency-key': crypto.randomUUID() },
        data: form,
        retries: 3,
      });
      return { id: data.id, status: data.status };
    } catch (error) {
      const refusal = (error as Refusal).response?.data?.error;
      if (refusal?.code !== 'charge_already_refunded') throw error;
      const message = refusal.message ?? 'The charge is refunded already';
      throw new svc.ActionError({ type: 'already_refunded', message });
    }
  },
});

export default action;

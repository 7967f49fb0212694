import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { data?: { code?: string } };
}

const unknownOrder = 'woocommerce_rest_shop_order_invalid_id';

const action = createAction({
  description: 'Sets the status of an order',
  version: '1.0.1',
  input: z.object({
    id: z.string().regex(/^\d+$/),
    status: z.enum([
      'pending',
      'processing',
      'on-hold',
      'completed',
      'cancelled',
      'refunded',
      'failed',
    ]),
  }),
  output: z.object({ id: z.string(), status: z.string() }),

  exec: async (svc, { id, status }) => {
    try {
      const { data } = await svc.put<{ id: number; status: string }>({
        endpoint: `/orders/${id}`,
        data: { status },
        retries: 3,
      });
      return { id: String(data.id), status: data.status };
    } catch (error) {
      // A change of what is not there is refused with 400, not with 404 as a look-up is.
      if ((error as Refusal).response?.data?.code !== unknownOrder) throw error;
      const message = `The shop has no order ${id}`;
      throw new svc.ActionError({ type: 'order_not_found', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Sets the status of an order',
  version: '1.0.0',
  scopes: ['store_v2_orders'],
  input: z.object({
    id: z.string().regex(/^\d+$/),
    /** Such as 2 for shipped, 5 for cancelled, 10 for completed. */
    status_id: z.number().int().min(0),
  }),
  output: z.object({ id: z.string(), status: z.string() }),

  exec: async (svc, { id, status_id }) => {
    try {
      const { data } = await svc.put<{ id: number; status: string }>({
        endpoint: `/v2/orders/${id}`,
        data: { status_id },
        retries: 3,
      });
      return { id: String(data.id), status: data.status };
    } catch (error) {
      const { response } = error as { response?: { status?: number } };
      if (response?.status !== 404) throw error;
      const message = `The shop has no order ${id}`;
      throw new svc.ActionError({ type: 'order_not_found', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

/** As BambooHR calls them. */
const statuses = { approved: 'approved', declined: 'denied', cancelled: 'canceled' } as const;

const action = createAction({
  description:
    'Approves, declines or cancels a time off request; where several must approve, who is no owner or administrator completes the own step alone',
  version: '1.0.2',
  input: z.object({
    id: z.string().regex(/^\d+$/),
    status: z.enum(['approved', 'declined', 'cancelled']),
    note: z.string().optional(),
  }),
  output: z.object({ id: z.string(), status: z.enum(['approved', 'declined', 'cancelled']) }),

  exec: async (svc, { id, status, note }) => {
    try {
      await svc.put({
        endpoint: `/v1/time_off/requests/${id}/status`,
        data: { status: statuses[status], note },
        retries: 3,
      });
      return { id, status };
    } catch (error) {
      const { status: code } = (error as { response?: { status?: number } }).response ?? {};
      if (code !== 404) throw error;
      throw new svc.ActionError({ type: 'request_not_found', message: 'There is no such request' });
    }
  },
});

export default action;

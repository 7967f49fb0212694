import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: {
    status?: number;
    data?: { description?: string; errors?: { field?: string; message?: string }[] };
  };
}

const priorities = { low: 1, normal: 2, high: 3, urgent: 4 } as const;
/** An open ticket. */
const open = 2;

const action = createAction({
  description: 'Creates an open ticket, and a contact where none has the address of the requester',
  version: '1.0.1',
  input: z.object({
    title: z.string().min(1),
    /** May be HTML. */
    description: z.string().min(1),
    priority: z.enum(['low', 'normal', 'high', 'urgent']),
    requester_email: z.email(),
    type: z.string().min(1).optional(),
    tags: z.array(z.string().max(32)).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { title, priority, requester_email: email, ...fields }) => {
    try {
      const { data } = await svc.post<{ id: number }>({
        endpoint: '/api/v2/tickets',
        data: { subject: title, priority: priorities[priority], status: open, email, ...fields },
        retries: 3,
      });
      return { id: String(data.id) };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 400) throw error;
      const reasons = (data?.errors ?? []).map((one) => `${one.field}: ${one.message}`);
      const message = reasons.join('; ') || 'Freshdesk refused the ticket';
      throw new svc.ActionError({ type: 'ticket_invalid', message });
    }
  },
});

export default action;

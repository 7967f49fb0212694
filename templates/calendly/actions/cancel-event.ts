import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { message?: string } };
}

const refusals = new Map([
  [403, 'cancellation_refused'],
  [404, 'event_not_found'],
]);

const action = createAction({
  description: 'Cancels an event; Calendly notifies its invitees',
  version: '1.0.0',
  scopes: ['scheduled_events:write'],
  input: z.object({
    event_id: z.string().min(1),
    reason: z.string().max(10_000).optional(),
  }),
  output: z.object({ canceled_by: z.string(), reason: z.string().nullable() }),

  exec: async (svc, { event_id: id, reason }) => {
    try {
      const { data } = await svc.post<{ resource: { canceled_by: string; reason: string | null } }>(
        {
          endpoint: `/scheduled_events/${encodeURIComponent(id)}/cancellation`,
          data: { reason },
          retries: 3,
        },
      );
      return { canceled_by: data.resource.canceled_by, reason: data.resource.reason };
    } catch (error) {
      const { status = 0, data } = (error as Refusal).response ?? {};
      const type = refusals.get(status);
      if (type === undefined) throw error;
      throw new svc.ActionError({ type, message: data?.message ?? 'Calendly does not cancel it' });
    }
  },
});

export default action;

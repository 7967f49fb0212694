import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { message?: string } };
}

interface MeetingAccess {
  id: number;
  join_url: string;
  password?: string;
}

const badRequest = 400;
const scheduled = 2;

const action = createAction({
  description: 'Schedules a meeting of the person',
  version: '1.0.0',
  scopes: ['meeting:write:meeting'],
  input: z.object({
    title: z.string().min(1).max(200),
    description: z.string().max(2000).optional(),
    /** In UTC. */
    start: z.iso.datetime({ precision: 0 }),
    duration_minutes: z.number().int().positive(),
  }),
  output: z.object({ id: z.string(), meeting_url: z.string(), password: z.string().nullable() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<MeetingAccess>({
        endpoint: '/users/me/meetings',
        data: {
          type: scheduled,
          topic: input.title,
          agenda: input.description,
          start_time: input.start,
          duration: input.duration_minutes,
        },
        retries: 3,
      });
      return {
        id: String(data.id),
        meeting_url: data.join_url,
        password: data.password ?? null,
      };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== badRequest) throw error;
      const message = data?.message ?? 'Zoom refuses the meeting';
      throw new svc.ActionError({ type: 'meeting_refused', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { errors?: { message?: string }[] } };
}

const action = createAction({
  description: 'Creates a user or lead',
  version: '1.0.0',
  input: z.object({
    role: z.enum(['user', 'lead']),
    email: z.email(),
    name: z.string().optional(),
    phone: z.string().optional(),
    /** Of your own system. */
    external_id: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, contact) => {
    try {
      const { data } = await svc.post<{ id: string }>({
        endpoint: '/contacts',
        data: contact,
        retries: 3,
      });
      return { id: data.id };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 409) throw error;
      const message = data?.errors?.[0]?.message ?? 'A contact with these details exists';
      throw new svc.ActionError({ type: 'contact_exists', message });
    }
  },
});

export default action;

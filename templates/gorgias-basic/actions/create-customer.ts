import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Creates a customer who is written to by e-mail',
  version: '1.0.0',
  input: z.object({
    email: z.email(),
    name: z.string().min(1).optional(),
    /** Id in another system. */
    external_id: z.string().min(1).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { email, name, external_id: externalId }) => {
    const { data } = await svc.post<{ id: number }>({
      endpoint: '/customers',
      data: {
        email,
        name,
        external_id: externalId,
        channels: [{ type: 'email', address: email, preferred: true }],
      },
      retries: 3,
    });
    return { id: String(data.id) };
  },
});

export default action;

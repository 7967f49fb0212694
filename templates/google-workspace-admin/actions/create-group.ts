import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Creates a group',
  version: '1.0.0',
  scopes: ['https://www.googleapis.com/auth/admin.directory.group'],
  input: z.object({
    /** In a domain of the account. */
    email: z.email(),
    name: z.string().min(1),
    description: z.string().optional(),
  }),
  output: z.object({ id: z.string(), email: z.string() }),

  exec: async (svc, group) => {
    const { data } = await svc.post<{ id: string; email: string }>({
      endpoint: '/admin/directory/v1/groups',
      data: group,
      retries: 3,
    });
    return { id: data.id, email: data.email };
  },
});

export default action;

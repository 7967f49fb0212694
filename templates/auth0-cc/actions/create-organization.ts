import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number };
}

const conflict = 409;

const action = createAction({
  description: 'Creates an organization',
  version: '1.0.0',
  scopes: ['create:organizations'],
  input: z.object({
    /** Unique in the tenant. */
    name: z
      .string()
      .regex(/^[a-z0-9_-]{1,50}$/, 'lowercase letters, digits, underscores and dashes, up to 50'),
    display_name: z.string().min(1).max(255).optional(),
    metadata: z.record(z.string(), z.string().max(255)).optional(),
  }),
  output: z.object({ id: z.string(), name: z.string() }),

  exec: async (svc, organization) => {
    try {
      const { data } = await svc.post<{ id: string; name: string }>({
        endpoint: '/organizations',
        data: organization,
        retries: 3,
      });
      return { id: data.id, name: data.name };
    } catch (error) {
      if ((error as Refusal).response?.status !== conflict) throw error;
      const message = `There is an organization ${organization.name} already`;
      throw new svc.ActionError({ type: 'organization_exists', message });
    }
  },
});

export default action;

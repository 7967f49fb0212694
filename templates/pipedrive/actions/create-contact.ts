import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Creates a person',
  version: '1.0.0',
  scopes: ['contacts:full'],
  input: z.object({
    name: z.string().min(1),
    email: z.email().optional(),
    phone: z.string().min(1).optional(),
    company_id: z.string().regex(/^\d+$/).optional(),
    owner_id: z.string().regex(/^\d+$/).optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, { name, email, phone, company_id: companyId, owner_id: ownerId }) => {
    const { data } = await svc.post<{ data: { id: number } }>({
      endpoint: '/api/v2/persons',
      data: {
        name,
        emails: email === undefined ? undefined : [{ value: email, primary: true, label: 'work' }],
        phones: phone === undefined ? undefined : [{ value: phone, primary: true, label: 'work' }],
        org_id: companyId === undefined ? undefined : Number(companyId),
        owner_id: ownerId === undefined ? undefined : Number(ownerId),
      },
      retries: 3,
    });
    return { id: String(data.data.id) };
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { errors?: { detail?: string }[] } };
}

const action = createAction({
  description: 'Changes the profile with an address, or creates one',
  version: '1.0.0',
  scopes: ['profiles:write'],
  input: z.object({
    email: z.email(),
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    /** E.164, such as `+15005550006`. */
    phone: z.e164().optional(),
    job_title: z.string().optional(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const attributes = {
      email: input.email,
      first_name: input.first_name,
      last_name: input.last_name,
      phone_number: input.phone,
      title: input.job_title,
    };
    try {
      const { data } = await svc.post<{ data: { id: string } }>({
        endpoint: '/api/profile-import',
        headers: { 'content-type': 'application/vnd.api+json' },
        data: { data: { type: 'profile', attributes } },
        retries: 3,
      });
      return { id: data.data.id };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 400) throw error;
      const message = data?.errors?.[0]?.detail ?? 'Klaviyo refuses the profile';
      throw new svc.ActionError({ type: 'profile_refused', message });
    }
  },
});

export default action;

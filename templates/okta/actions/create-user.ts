import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: {
    data?: {
      errorCode?: string;
      errorSummary?: string;
      errorCauses?: { errorSummary?: string }[];
    };
  };
}

/** Of what the request holds: a login that is in use, a field that the organization requires. */
const validationFailed = 'E0000001';

const action = createAction({
  description: 'Creates a user, who gets an email to set a password',
  version: '1.0.0',
  scopes: ['okta.users.manage'],
  input: z.object({
    email: z.email(),
    first_name: z.string().min(1).max(50),
    last_name: z.string().min(1).max(50),
    job_title: z.string().optional(),
    department: z.string().optional(),
    /** False: the user is created without an email, and activated later. */
    is_activated: z.boolean().optional(),
  }),
  output: z.object({ id: z.string(), provider_status: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ id: string; status: string }>({
        endpoint: '/api/v1/users',
        params: { activate: String(input.is_activated ?? true) },
        data: {
          profile: {
            login: input.email,
            email: input.email,
            firstName: input.first_name,
            lastName: input.last_name,
            title: input.job_title,
            department: input.department,
          },
        },
        retries: 3,
      });
      return { id: data.id, provider_status: data.status };
    } catch (error) {
      const { data } = (error as Refusal).response ?? {};
      if (data?.errorCode !== validationFailed) throw error;
      const causes = data.errorCauses?.flatMap(({ errorSummary }) => errorSummary ?? []) ?? [];
      const message = causes.join('; ') || (data.errorSummary ?? 'Okta refuses the user');
      throw new svc.ActionError({ type: 'invalid_user', message });
    }
  },
});

export default action;

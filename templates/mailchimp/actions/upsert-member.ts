import { createHash } from 'crypto';
import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { detail?: string } };
}

const action = createAction({
  description: 'Changes the member of a list with an address, or adds one',
  version: '1.0.0',
  input: z.object({
    list_id: z.string().min(1),
    email: z.email(),
    first_name: z.string().min(1).optional(),
    last_name: z.string().min(1).optional(),
    /** Of a new member. With `pending` Mailchimp asks it for a confirmation. */
    status_if_new: z.enum(['subscribed', 'pending', 'unsubscribed', 'transactional']),
  }),
  output: z.object({ id: z.string(), status: z.string() }),

  exec: async (svc, input) => {
    const hash = createHash('md5').update(input.email.toLowerCase()).digest('hex');
    try {
      const { data } = await svc.put<{ contact_id: string; status: string }>({
        endpoint: `/3.0/lists/${input.list_id}/members/${hash}`,
        data: {
          email_address: input.email,
          status_if_new: input.status_if_new,
          merge_fields: { FNAME: input.first_name, LNAME: input.last_name },
        },
        retries: 3,
      });
      return { id: data.contact_id, status: data.status };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== 400 && status !== 404) throw error;
      throw new svc.ActionError({
        type: status === 404 ? 'list_not_found' : 'member_refused',
        message: data?.detail ?? 'Mailchimp refuses the member',
      });
    }
  },
});

export default action;

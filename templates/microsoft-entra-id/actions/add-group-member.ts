import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { error?: { message?: string } } };
}

const badRequest = 400;
const notFound = 404;

const action = createAction({
  description: 'Adds a user to a group',
  version: '1.0.0',
  scopes: ['GroupMember.ReadWrite.All'],
  input: z.object({ group_id: z.string().min(1), user_id: z.string().min(1) }),
  output: z.object({ is_member: z.literal(true) }),

  exec: async (svc, { group_id: group, user_id: user }) => {
    try {
      await svc.post({
        endpoint: `/v1.0/groups/${group}/members/$ref`,
        data: { '@odata.id': `https://graph.microsoft.com/v1.0/directoryObjects/${user}` },
        retries: 3,
      });
      return { is_member: true as const };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status === notFound) {
        const message = `There is no group ${group}, or no user ${user}`;
        throw new svc.ActionError({ type: 'not_found', message });
      }
      if (status !== badRequest) throw error;
      // Of a user who is a member already, and of a group that takes none.
      const message = data?.error?.message ?? `The group does not take ${user}`;
      throw new svc.ActionError({ type: 'invalid_member', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Adds a call whose recording Gong downloads',
  version: '1.0.0',
  scopes: ['api:calls:create'],
  input: z.object({
    /** Id in the system that recorded it: Gong adds a call once. */
    external_id: z.string().min(1).max(2048),
    title: z.string().optional(),
    /** ISO 8601 with an offset. */
    started_at: z.iso.datetime({ offset: true }),
    direction: z.enum(['Inbound', 'Outbound', 'Conference', 'Unknown']),
    /** The user of Gong who hosted it. */
    user_id: z.string().min(1),
    others: z.array(
      z.object({
        name: z.string().optional(),
        email: z.email().optional(),
        phone: z.string().optional(),
      }),
    ),
    recording_url: z.url(),
  }),
  output: z.object({ id: z.string() }),

  exec: async (svc, input) => {
    const others = input.others.map(({ name, email, phone }) => ({
      name,
      emailAddress: email,
      phoneNumber: phone,
    }));
    const { data } = await svc.post<{ callId: string }>({
      endpoint: '/v2/calls',
      data: {
        clientUniqueId: input.external_id,
        title: input.title,
        actualStart: input.started_at,
        direction: input.direction,
        primaryUser: input.user_id,
        parties: [{ userId: input.user_id }, ...others],
        downloadMediaUrl: input.recording_url,
      },
      retries: 3,
    });
    return { id: data.callId };
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Sends a message to a channel as the person',
  version: '1.0.0',
  scopes: ['ChannelMessage.Send'],
  input: z.object({
    team_id: z.string().min(1),
    channel_id: z.string().min(1),
    subject: z.string().optional(),
    body: z.string().min(1),
    is_html: z.boolean().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string().nullable() }),

  exec: async (svc, input) => {
    const { data } = await svc.post<{ id: string; webUrl?: string | null }>({
      endpoint: `/v1.0/teams/${input.team_id}/channels/${input.channel_id}/messages`,
      data: {
        subject: input.subject,
        body: { contentType: input.is_html === true ? 'html' : 'text', content: input.body },
      },
      retries: 3,
    });
    return { id: data.id, url: data.webUrl ?? null };
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

const badRequest = 400;
const notFound = 404;

const action = createAction({
  description: 'Creates a card in a list',
  version: '1.0.0',
  scopes: ['write'],
  input: z.object({
    list_id: z.string().min(1),
    title: z.string().min(1),
    description: z.string().optional(),
    due_at: z.iso.datetime({ offset: true }).optional(),
    member_ids: z.array(z.string()).optional(),
    label_ids: z.array(z.string()).optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ id: string; url: string }>({
        endpoint: '/1/cards',
        params: {
          idList: input.list_id,
          name: input.title,
          desc: input.description,
          due: input.due_at,
          idMembers: input.member_ids,
          idLabels: input.label_ids,
        },
        retries: 3,
      });
      return { id: data.id, url: data.url };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== badRequest && status !== notFound) throw error;
      const message = `There is no list ${input.list_id}, or Trello refuses a value`;
      throw new svc.ActionError({ type: 'card_refused', message });
    }
  },
});

export default action;

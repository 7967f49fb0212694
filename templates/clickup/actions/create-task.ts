import { createAction } from 'svc';
import { z } from 'zod';

const priorities = { urgent: 1, high: 2, normal: 3, low: 4 } as const;

const action = createAction({
  description: 'Creates a task in a list',
  version: '1.0.0',
  input: z.object({
    list_id: z.string().min(1),
    title: z.string().min(1),
    description: z.string().optional(),
    priority: z.enum(['low', 'normal', 'high', 'urgent']).optional(),
    assignee_ids: z.array(z.number().int()).optional(),
    tags: z.array(z.string()).optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    const { data } = await svc.post<{ id: string; url: string }>({
      endpoint: `/list/${input.list_id}/task`,
      data: {
        name: input.title,
        description: input.description,
        priority: input.priority === undefined ? undefined : priorities[input.priority],
        assignees: input.assignee_ids,
        tags: input.tags,
      },
      retries: 3,
    });
    return { id: data.id, url: data.url };
  },
});

export default action;

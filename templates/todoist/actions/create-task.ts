import { createAction } from 'svc';
import { z } from 'zod';
import { urlOf } from '../task.js';

interface Refusal {
  response?: {
    status?: number;
    data?: { error?: string; error_extra?: { argument?: string; explanation?: string } };
  };
}

const badRequest = 400;
const notFound = 404;

const action = createAction({
  description: 'Creates a task',
  version: '1.1.0',
  scopes: ['data:read_write'],
  input: z.object({
    title: z.string().min(1),
    description: z.string().optional(),
    /** Default: the inbox. */
    project_id: z.string().min(1).optional(),
    tags: z.array(z.string()).optional(),
    due_date: z.iso.date().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ id: string }>({
        endpoint: '/api/v1/tasks',
        // A repeated attempt creates no second task.
        headers: { 'x-request-id': crypto.randomUUID() },
        data: {
          content: input.title,
          description: input.description,
          project_id: input.project_id,
          labels: input.tags,
          due_date: input.due_date,
        },
        retries: 3,
      });
      return { id: data.id, url: urlOf(data.id) };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      // An id of another form is refused with 400, that of a project which is not there with 404.
      if (status !== badRequest && status !== notFound) throw error;
      const { argument, explanation } = data?.error_extra ?? {};
      const details = explanation ?? argument;
      const message = data?.error ?? 'Todoist refuses the task';
      throw new svc.ActionError({
        type: 'task_refused',
        message: details === undefined ? message : `${message}: ${details}`,
      });
    }
  },
});

export default action;

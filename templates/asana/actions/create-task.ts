import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { errors?: { message?: string }[] } };
}

const badRequest = 400;
const notFound = 404;

const action = createAction({
  description: 'Creates a task in a project',
  version: '1.0.2',
  // Without `tasks:read` the response is compact, and has no address.
  scopes: ['tasks:write', 'tasks:read'],
  input: z.object({
    /** The gid of the project. */
    project_id: z.string().min(1),
    title: z.string().min(1),
    description: z.string().optional(),
    assignee_id: z.string().optional(),
    due_date: z.iso.date().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ data: { gid: string; permalink_url: string } }>({
        endpoint: '/tasks',
        data: {
          data: {
            name: input.title,
            notes: input.description,
            projects: [input.project_id],
            assignee: input.assignee_id,
            due_on: input.due_date,
          },
        },
        retries: 3,
      });
      return { id: data.data.gid, url: data.data.permalink_url };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      // 404: an object that the request names is not there.
      if (status !== badRequest && status !== notFound) throw error;
      const message = data?.errors?.[0]?.message ?? 'Asana refuses the task';
      throw new svc.ActionError({ type: 'task_refused', message });
    }
  },
});

export default action;

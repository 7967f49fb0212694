import { createAction } from 'svc';
import { z } from 'zod';
import { urlOf } from '../task.js';

interface Refusal {
  error?: string;
  error_extra?: { argument?: string; explanation?: string };
}

/** Both by what the command is called in the request. */
interface CommandResponse {
  sync_status: Record<string, 'ok' | Refusal>;
  temp_id_mapping: Record<string, string>;
}

const action = createAction({
  description: 'Creates a task',
  version: '1.2.0',
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
    const command = {
      type: 'item_add',
      // Todoist executes a command once: a repeated attempt creates no second task. `POST /tasks` has no such key.
      uuid: crypto.randomUUID(),
      temp_id: crypto.randomUUID(),
      args: {
        content: input.title,
        description: input.description,
        project_id: input.project_id,
        labels: input.tags,
        due: input.due_date === undefined ? undefined : { date: input.due_date },
      },
    };
    const { data } = await svc.post<CommandResponse>({
      endpoint: '/api/v1/sync',
      data: new URLSearchParams({ commands: JSON.stringify([command]) }),
      retries: 3,
    });
    // A refusal has the status 200 too. The request has one command.
    const [status] = Object.values(data.sync_status);
    if (status !== 'ok') {
      const { argument, explanation } = status?.error_extra ?? {};
      const details = explanation ?? argument;
      const message = status?.error ?? 'Todoist refuses the task';
      throw new svc.ActionError({
        type: 'task_refused',
        message: details === undefined ? message : `${message}: ${details}`,
      });
    }
    const [id] = Object.values(data.temp_id_mapping);
    if (id === undefined) throw new Error('Todoist created the task and did not return its id');
    return { id, url: urlOf(id) };
  },
});

export default action;

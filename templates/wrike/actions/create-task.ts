import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { error?: string; errorDescription?: string } };
}

const badRequest = 400;
/** Of a folder that is not there, or that the person may not see. */
const unknownFolder = new Set(['resource_not_found', 'access_forbidden']);

const action = createAction({
  description: 'Creates a task in a folder or project',
  version: '1.1.0',
  scopes: ['wsReadWrite'],
  input: z.object({
    /** The id of the folder or project. */
    collection_id: z.string().min(1),
    title: z.string().min(1),
    /** HTML. */
    description: z.string().optional(),
    priority: z.enum(['low', 'normal', 'high']).optional(),
    assignee_ids: z.array(z.string()).optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    const form = new URLSearchParams({ title: input.title });
    if (input.description !== undefined) form.append('description', input.description);
    if (input.priority !== undefined) form.append('importance', importances[input.priority]);
    if (input.assignee_ids !== undefined)
      form.append('responsibles', JSON.stringify(input.assignee_ids));
    try {
      const { data } = await svc.post<{ data: [{ id: string; permalink: string }] }>({
        endpoint: `/folders/${encodeURIComponent(input.collection_id)}/tasks`,
        data: form,
        retries: 3,
      });
      const [task] = data.data;
      return { id: task.id, url: task.permalink };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      const isUnknown = unknownFolder.has(data?.error ?? '');
      if (status !== badRequest && !isUnknown) throw error;
      const message = data?.errorDescription ?? 'Wrike refuses the task';
      throw new svc.ActionError({
        type: isUnknown ? 'collection_not_found' : 'task_refused',
        message,
      });
    }
  },
});

const importances = { low: 'Low', normal: 'Normal', high: 'High' } as const;

export default action;

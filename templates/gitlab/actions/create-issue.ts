import { createAction } from 'svc';
import { z } from 'zod';

const notFound = 404;

const action = createAction({
  description: 'Opens an issue',
  version: '1.0.1',
  scopes: ['api'],
  input: z.object({
    /** Id or path of the project: `group/project`. */
    project: z.string().min(1),
    title: z.string().min(1),
    description: z.string().optional(),
    /** One that the project does not have is created. */
    labels: z.array(z.string()).optional(),
    /** More than one in paid plans alone. */
    assignee_ids: z.array(z.number().int()).optional(),
  }),
  output: z.object({ id: z.string(), number: z.number(), url: z.string() }),

  exec: async (svc, { project, labels, ...issue }) => {
    try {
      const { data } = await svc.post<{ id: number; iid: number; web_url: string }>({
        endpoint: `/api/v4/projects/${encodeURIComponent(project)}/issues`,
        data: { ...issue, labels: labels?.join(',') },
        retries: 3,
      });
      return { id: String(data.id), number: data.iid, url: data.web_url };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== notFound) throw error;
      const message = `There is no project ${project}, or the person may not see it`;
      throw new svc.ActionError({ type: 'project_not_found', message });
    }
  },
});

export default action;

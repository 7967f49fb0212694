import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description:
    'Opens an issue; GitHub leaves labels and assignees out where the person may not push to the repository',
  version: '1.0.1',
  scopes: ['repo'],
  input: z.object({
    /** `owner/name` */
    repository: z.string().regex(/^[^/]+\/[^/]+$/),
    title: z.string().min(1),
    body: z.string().optional(),
    labels: z.array(z.string()).optional(),
    assignees: z.array(z.string()).optional(),
  }),
  output: z.object({ number: z.number(), url: z.string() }),

  exec: async (svc, { repository, ...issue }) => {
    try {
      const { data } = await svc.post<{ number: number; html_url: string }>({
        endpoint: `/repos/${repository}/issues`,
        data: issue,
        retries: 3,
      });
      return { number: data.number, url: data.html_url };
    } catch (error) {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      if (status !== 410) throw error;
      const message = 'The repository has no issues';
      throw new svc.ActionError({ type: 'issues_disabled', message });
    }
  },
});

export default action;

import { createAction } from 'svc';
import { z } from 'zod';

const input = z.object({
  repository: z.string().regex(/^[^/]+\/[^/]+$/),
  title: z.string().min(1),
  body: z.string().optional(),
});

const action = createAction({
  description: 'Opens an issue',
  version: '1.0.0',
  scopes: ['repo'],
  input,
  output: z.object({ number: z.number(), url: z.string() }),

  exec: async (svc, given) => {
    const { data } = await svc.zodValidateInput({ zodSchema: input, input: given });
    const { repository, ...issue } = data;
    try {
      const response = await svc.post<{ number: number; html_url: string }>({
        endpoint: `/repos/${repository}/issues`,
        data: issue,
        retries: 3,
      });
      return { number: response.data.number, url: response.data.html_url };
    } catch (error) {
      if (statusOf(error) !== 410) throw error;
      throw new svc.ActionError({
        type: 'issues_disabled',
        message: 'The repository has no issues',
      });
    }
  },
});

const statusOf = (error: unknown): number | undefined =>
  (error as { response?: { status?: number } }).response?.status;

export default action;

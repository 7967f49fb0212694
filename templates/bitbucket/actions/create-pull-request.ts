import { createAction } from 'svc';
import { z } from 'zod';

interface Refusal {
  response?: { status?: number; data?: { error?: { message?: string } } };
}

const badRequest = 400;

const action = createAction({
  description: 'Opens a pull request in a repository',
  version: '1.0.0',
  scopes: ['pullrequest:write'],
  input: z.object({
    /** `workspace/repository` */
    repository: z.string().regex(/^[^/]+\/[^/]+$/),
    title: z.string().min(1),
    description: z.string().optional(),
    source_branch: z.string().min(1),
    /** Default: the main branch of the repository. */
    target_branch: z.string().min(1).optional(),
    /** The uuids of the accounts. */
    reviewer_ids: z.array(z.string()).optional(),
    closes_source_branch: z.boolean().optional(),
  }),
  output: z.object({ id: z.string(), url: z.string() }),

  exec: async (svc, input) => {
    try {
      const { data } = await svc.post<{ id: number; links: { html: { href: string } } }>({
        endpoint: `/2.0/repositories/${input.repository}/pullrequests`,
        data: {
          title: input.title,
          description: input.description,
          source: { branch: { name: input.source_branch } },
          destination:
            input.target_branch === undefined
              ? undefined
              : { branch: { name: input.target_branch } },
          reviewers: input.reviewer_ids?.map((uuid) => ({ uuid })),
          close_source_branch: input.closes_source_branch,
        },
        retries: 3,
      });
      return { id: `${input.repository}#${data.id}`, url: data.links.html.href };
    } catch (error) {
      const { status, data } = (error as Refusal).response ?? {};
      if (status !== badRequest) throw error;
      const message = data?.error?.message ?? 'Bitbucket refuses the pull request';
      throw new svc.ActionError({ type: 'pull_request_refused', message });
    }
  },
});

export default action;

import { createSync } from 'svc';
import { z } from 'zod';

const Issue = z.object({
  id: z.string(),
  number: z.number(),
  title: z.string(),
  state: z.string(),
  author: z.string().nullable(),
  updatedAt: z.string(),
});
type Issue = z.infer<typeof Issue>;

interface GithubIssue {
  id: number;
  number: number;
  title: string;
  state: string;
  user: { login: string } | null;
  updated_at: string;
  pull_request?: object;
}

const sync = createSync({
  description: 'Issues of a repository, from the one changed longest ago to the newest',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: true,
  scopes: ['repo'],
  models: { Issue },
  metadata: z.object({ repository: z.string() }),
  /** Issues changed before it are known. */
  checkpoint: z.object({ since: z.string() }),

  exec: async (svc) => {
    const { repository } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<GithubIssue>({
      endpoint: `/repos/${repository}/issues`,
      params: { state: 'all', sort: 'updated', direction: 'asc', since: checkpoint?.since },
      paginate: {
        type: 'link',
        link_rel_in_response_header: 'next',
        limit_name_in_request: 'per_page',
        limit: 2,
      },
      retries: 3,
    });
    for await (const page of pages) {
      // The list of issues holds pull requests, too.
      const issues = page.filter((issue) => issue.pull_request === undefined);
      await svc.batchSave(issues.map(issueOf), 'Issue');
      const last = page.at(-1);
      if (last !== undefined) await svc.saveCheckpoint({ since: last.updated_at });
    }
  },
});

function issueOf(issue: GithubIssue): Issue {
  const { id, number, title, state, user, updated_at: updatedAt } = issue;
  return { id: String(id), number, title, state, author: user?.login ?? null, updatedAt };
}

export default sync;

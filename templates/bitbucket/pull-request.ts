import { z } from 'zod';

const account = z.object({ uuid: z.string() });

/** One side of a pull request; a deleted fork leaves null. */
const side = z.object({
  branch: z.object({ name: z.string() }),
  repository: z.object({ full_name: z.string() }).nullish(),
});

/** A pull request as Bitbucket lists it. */
export const BitbucketPullRequest = z.object({
  /** Counted in the repository. */
  id: z.number(),
  title: z.string(),
  summary: z.object({ raw: z.string() }).nullish(),
  state: z.string(),
  draft: z.boolean().optional(),
  author: account.nullish(),
  closed_by: account.nullish(),
  source: side,
  destination: side,
  merge_commit: z.object({ hash: z.string() }).nullish(),
  comment_count: z.number(),
  task_count: z.number(),
  links: z.object({ html: z.object({ href: z.string() }) }),
  created_on: z.string(),
  updated_on: z.string(),
});
export type BitbucketPullRequest = z.infer<typeof BitbucketPullRequest>;

export const PullRequest = z.object({
  /** `workspace/repository#12` */
  id: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  /** `OPEN`, `DRAFT`, `QUEUED`, `MERGED`, `DECLINED` or `SUPERSEDED`. */
  state: z.string(),
  is_draft: z.boolean(),
  repository: z.string(),
  source_branch: z.string(),
  /** Another one where it comes from a fork. */
  source_repository: z.string().nullable(),
  target_branch: z.string(),
  author_id: z.string().nullable(),
  closed_by_id: z.string().nullable(),
  merge_commit: z.string().nullable(),
  comment_count: z.number(),
  open_task_count: z.number(),
  url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type PullRequest = z.infer<typeof PullRequest>;

/** @param repository `workspace/repository` */
export const pullRequestOf = (request: BitbucketPullRequest, repository: string): PullRequest => ({
  id: `${repository}#${request.id}`,
  title: request.title,
  description: request.summary?.raw || null,
  state: request.state,
  is_draft: request.draft ?? false,
  repository,
  source_branch: request.source.branch.name,
  source_repository: request.source.repository?.full_name ?? null,
  target_branch: request.destination.branch.name,
  author_id: request.author?.uuid ?? null,
  closed_by_id: request.closed_by?.uuid ?? null,
  merge_commit: request.merge_commit?.hash ?? null,
  comment_count: request.comment_count,
  open_task_count: request.task_count,
  url: request.links.html.href,
  created_at: request.created_on,
  updated_at: request.updated_on,
});

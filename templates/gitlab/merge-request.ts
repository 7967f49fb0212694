import { z } from 'zod';

const user = z.object({ id: z.number(), username: z.string() });

/** A merge request as GitLab returns it. */
export const GitlabMergeRequest = z.object({
  id: z.number(),
  /** Its number in the project. */
  iid: z.number(),
  project_id: z.number(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed', 'locked', 'merged']),
  draft: z.boolean(),
  source_branch: z.string(),
  target_branch: z.string(),
  labels: z.array(z.string()),
  author: user.nullable(),
  assignees: z.array(user),
  reviewers: z.array(user),
  references: z.object({ full: z.string() }),
  web_url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  merged_at: z.string().nullable(),
  closed_at: z.string().nullable(),
});
export type GitlabMergeRequest = z.infer<typeof GitlabMergeRequest>;

export const MergeRequest = z.object({
  id: z.string(),
  /** `group/project!12` */
  key: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed', 'locked', 'merged']),
  is_draft: z.boolean(),
  source_branch: z.string(),
  target_branch: z.string(),
  labels: z.array(z.string()),
  project_id: z.string(),
  author_id: z.string().nullable(),
  assignee_ids: z.array(z.string()),
  reviewer_ids: z.array(z.string()),
  url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  merged_at: z.string().nullable(),
  closed_at: z.string().nullable(),
});
export type MergeRequest = z.infer<typeof MergeRequest>;

export const mergeRequestOf = (request: GitlabMergeRequest): MergeRequest => ({
  id: String(request.id),
  key: request.references.full,
  title: request.title,
  description: request.description,
  state: request.state,
  is_draft: request.draft,
  source_branch: request.source_branch,
  target_branch: request.target_branch,
  labels: request.labels,
  project_id: String(request.project_id),
  author_id: request.author === null ? null : String(request.author.id),
  assignee_ids: request.assignees.map(({ id }) => String(id)),
  reviewer_ids: request.reviewers.map(({ id }) => String(id)),
  url: request.web_url,
  created_at: request.created_at,
  updated_at: request.updated_at,
  merged_at: request.merged_at,
  closed_at: request.closed_at,
});

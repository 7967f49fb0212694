import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

/** An issue as GitHub returns it. */
export const GithubIssue = z.object({
  id: z.number(),
  number: z.number(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.enum(['open', 'closed']),
  user: z.object({ login: z.string() }).nullable(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
  assignees: z.array(z.object({ login: z.string() })).nullish(),
  html_url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  closed_at: z.string().nullable(),
  /** Of a pull request, which lists of issues hold too. */
  pull_request: z.object({ url: z.string() }).optional(),
});
export type GithubIssue = z.infer<typeof GithubIssue>;

/** The body of a webhook `issues`. */
export interface GithubIssueEvent {
  action: string;
  issue: GithubIssue;
  /** The full name is `owner/name`. */
  repository: { full_name: string };
}

/** @param repository `owner/name` */
export const ticketOf = (issue: GithubIssue, repository: string): Ticket => ({
  id: String(issue.id),
  key: `${repository}#${issue.number}`,
  title: issue.title,
  description: issue.body ?? null,
  status: issue.state,
  provider_status: issue.state,
  priority: null,
  type: null,
  tags: issue.labels.flatMap((label) => (typeof label === 'string' ? label : (label.name ?? []))),
  collection_id: repository,
  requester_id: issue.user?.login ?? null,
  assignee_ids: (issue.assignees ?? []).map(({ login }) => login),
  url: issue.html_url,
  created_at: issue.created_at,
  updated_at: issue.updated_at,
  closed_at: issue.closed_at,
});

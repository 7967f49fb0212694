import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

const user = z.object({ id: z.number(), username: z.string() });

/** An issue as GitLab returns it. */
export const GitlabIssue = z.object({
  id: z.number(),
  /** Its number in the project. */
  iid: z.number(),
  project_id: z.number(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed']),
  labels: z.array(z.string()),
  author: user.nullable(),
  assignees: z.array(user),
  issue_type: z.string().optional(),
  references: z.object({ full: z.string() }),
  web_url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  closed_at: z.string().nullable(),
});
export type GitlabIssue = z.infer<typeof GitlabIssue>;

export const ticketOf = (issue: GitlabIssue): Ticket => ({
  id: String(issue.id),
  key: issue.references.full,
  title: issue.title,
  description: issue.description,
  status: issue.state === 'closed' ? 'closed' : 'open',
  provider_status: issue.state,
  priority: null,
  type: issue.issue_type ?? null,
  tags: issue.labels,
  collection_id: String(issue.project_id),
  requester_id: issue.author === null ? null : String(issue.author.id),
  assignee_ids: issue.assignees.map(({ id }) => String(id)),
  url: issue.web_url,
  created_at: issue.created_at,
  updated_at: issue.updated_at,
  closed_at: issue.closed_at,
});

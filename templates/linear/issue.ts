import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

const reference = z.object({ id: z.string() });

/** An issue as Linear returns it, with the fields that `issuesQuery` asks for. */
export const LinearIssue = z.object({
  id: z.string(),
  identifier: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  /** 0: none, 1: urgent, 2: high, 3: medium, 4: low. */
  priority: z.number(),
  url: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  completedAt: z.string().nullable(),
  canceledAt: z.string().nullable(),
  archivedAt: z.string().nullable(),
  trashed: z.boolean().nullable(),
  state: z.object({ name: z.string(), type: z.string() }),
  team: reference,
  creator: reference.nullable(),
  assignee: reference.nullable(),
  labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
});
export type LinearIssue = z.infer<typeof LinearIssue>;

/** A query may cost 10,000 points; a page costs its issues times their labels. */
export const issuesQuery = `query issues($filter: IssueFilter, $after: String) {
  issues(first: 100, after: $after, filter: $filter, orderBy: createdAt, includeArchived: true) {
    nodes {
      id identifier title description priority url
      createdAt updatedAt completedAt canceledAt archivedAt trashed
      state { name type }
      team { id }
      creator { id }
      assignee { id }
      labels(first: 50) { nodes { name } }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

const statuses: Readonly<Record<string, Ticket['status']>> = {
  started: 'in_progress',
  completed: 'closed',
  canceled: 'closed',
  duplicate: 'closed',
};

const priorities = [null, 'urgent', 'high', 'normal', 'low'] as const;

export const ticketOf = (issue: LinearIssue): Ticket => ({
  id: issue.id,
  key: issue.identifier,
  title: issue.title,
  description: issue.description,
  status: statuses[issue.state.type] ?? 'open',
  provider_status: issue.state.name,
  priority: priorities[issue.priority] ?? null,
  type: null,
  tags: issue.labels.nodes.map(({ name }) => name),
  collection_id: issue.team.id,
  requester_id: issue.creator?.id ?? null,
  assignee_ids: issue.assignee === null ? [] : [issue.assignee.id],
  url: issue.url,
  created_at: issue.createdAt,
  updated_at: issue.updatedAt,
  closed_at: issue.completedAt ?? issue.canceledAt,
});

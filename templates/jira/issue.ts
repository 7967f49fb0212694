import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';
import type { PageOf } from './site.js';

/** A node of a document: its text, or its parts. */
export interface DocumentNode {
  type: string;
  text?: string | undefined;
  content?: DocumentNode[] | undefined;
}

const DocumentNode: z.ZodType<DocumentNode> = z.object({
  type: z.string(),
  text: z.string().optional(),
  get content() {
    return z.array(DocumentNode).optional();
  },
});

const Person = z.object({ accountId: z.string() }).nullish();

/** An issue as Jira returns it, with the fields of `issueFields`. */
export const JiraIssue = z.object({
  id: z.string(),
  key: z.string(),
  fields: z.object({
    summary: z.string(),
    description: DocumentNode.nullish(),
    status: z.object({
      name: z.string(),
      statusCategory: z.object({ key: z.string() }),
    }),
    priority: z.object({ name: z.string() }).nullish(),
    issuetype: z.object({ name: z.string() }),
    labels: z.array(z.string()),
    project: z.object({ id: z.string() }),
    reporter: Person,
    assignee: Person,
    created: z.string(),
    updated: z.string(),
    resolutiondate: z.string().nullish(),
  }),
});
export type JiraIssue = z.infer<typeof JiraIssue>;

export const issueFields = Object.keys(JiraIssue.shape.fields.shape).join(',');

/** By the category: a site names its statuses itself. */
const statuses: Readonly<Record<string, Ticket['status']>> = {
  indeterminate: 'in_progress',
  done: 'closed',
};

/** Of the names that Jira begins with; a site may have others. */
const priorities: Readonly<Record<string, Ticket['priority']>> = {
  Highest: 'urgent',
  High: 'high',
  Medium: 'normal',
  Low: 'low',
  Lowest: 'low',
};

export const ticketOf = ({ id, key, fields }: JiraIssue, pageOf: PageOf): Ticket => ({
  id,
  key,
  title: fields.summary,
  description: fields.description ? textOf(fields.description).trim() : null,
  status: statuses[fields.status.statusCategory.key] ?? 'open',
  provider_status: fields.status.name,
  priority: priorities[fields.priority?.name ?? ''] ?? null,
  type: fields.issuetype.name,
  tags: fields.labels,
  collection_id: fields.project.id,
  requester_id: fields.reporter?.accountId ?? null,
  assignee_ids: fields.assignee ? [fields.assignee.accountId] : [],
  url: pageOf(key),
  created_at: isoOf(fields.created),
  updated_at: isoOf(fields.updated),
  closed_at: fields.resolutiondate ? isoOf(fields.resolutiondate) : null,
});

/** The plain text of a document, a line for each paragraph or heading. */
function textOf({ type, text = '', content = [] }: DocumentNode): string {
  const inner = `${text}${content.map(textOf).join('')}`;
  return type === 'paragraph' || type === 'heading' ? `${inner}\n` : inner;
}

/** Jira writes the offset without a colon: `2026-01-01T08:00:00.000+0000`. */
const isoOf = (time: string): string => new Date(time).toISOString();

import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

/** A ticket as Zendesk exports it. */
export const ZendeskTicket = z.object({
  id: z.number(),
  /** In the API, not of the page that agents see. */
  url: z.string(),
  subject: z.string().nullish(),
  description: z.string().nullish(),
  status: z.enum(['new', 'open', 'pending', 'hold', 'solved', 'closed', 'deleted']),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).nullish(),
  type: z.enum(['problem', 'incident', 'question', 'task']).nullish(),
  tags: z.array(z.string()).nullish(),
  requester_id: z.number().nullish(),
  assignee_id: z.number().nullish(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type ZendeskTicket = z.infer<typeof ZendeskTicket>;

const statuses = {
  new: 'open',
  open: 'open',
  pending: 'waiting',
  hold: 'waiting',
  solved: 'closed',
  closed: 'closed',
  deleted: 'closed',
} as const;

export const ticketOf = (ticket: ZendeskTicket): Ticket => ({
  id: String(ticket.id),
  key: `#${ticket.id}`,
  title: ticket.subject ?? '',
  description: ticket.description ?? null,
  status: statuses[ticket.status],
  provider_status: ticket.status,
  priority: ticket.priority ?? null,
  type: ticket.type ?? null,
  tags: ticket.tags ?? [],
  collection_id: null,
  requester_id: typeof ticket.requester_id === 'number' ? String(ticket.requester_id) : null,
  assignee_ids: typeof ticket.assignee_id === 'number' ? [String(ticket.assignee_id)] : [],
  url: ticket.url,
  created_at: ticket.created_at,
  updated_at: ticket.updated_at,
  closed_at: null,
});

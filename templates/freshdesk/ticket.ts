import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

/** A ticket as Freshdesk lists it with `include=description`. */
export const FreshdeskTicket = z.object({
  id: z.number(),
  subject: z.string().nullish(),
  description_text: z.string().nullish(),
  /** 2 open, 3 pending, 4 resolved, 5 closed; others are of the account. */
  status: z.number(),
  /** 1 low to 4 urgent. */
  priority: z.number().nullish(),
  type: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  group_id: z.number().nullish(),
  requester_id: z.number().nullish(),
  responder_id: z.number().nullish(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type FreshdeskTicket = z.infer<typeof FreshdeskTicket>;

const statuses = new Map<number, Ticket['status']>([
  [2, 'open'],
  [3, 'waiting'],
  [4, 'closed'],
  [5, 'closed'],
]);
const priorities = new Map<number, Ticket['priority']>([
  [1, 'low'],
  [2, 'normal'],
  [3, 'high'],
  [4, 'urgent'],
]);

export const ticketOf = (ticket: FreshdeskTicket): Ticket => ({
  id: String(ticket.id),
  key: `#${ticket.id}`,
  title: ticket.subject ?? '',
  description: ticket.description_text ?? null,
  status: statuses.get(ticket.status) ?? 'in_progress',
  provider_status: String(ticket.status),
  priority: priorities.get(ticket.priority ?? 0) ?? null,
  type: ticket.type ?? null,
  tags: ticket.tags ?? [],
  collection_id: idText(ticket.group_id),
  requester_id: idText(ticket.requester_id),
  assignee_ids: [idText(ticket.responder_id)].filter((id) => id !== null),
  url: null,
  created_at: ticket.created_at,
  updated_at: ticket.updated_at,
  closed_at: null,
});

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);

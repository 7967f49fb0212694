import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

/** A ticket as Gorgias lists it. */
export const GorgiasTicket = z.object({
  id: z.number(),
  subject: z.string().nullish(),
  /** `open` or `closed`. */
  status: z.string(),
  channel: z.string().nullish(),
  customer: z.object({ id: z.number() }).nullish(),
  assignee_user: z.object({ id: z.number() }).nullish(),
  tags: z.array(z.object({ name: z.string() })).nullish(),
  created_datetime: z.string().nullish(),
  updated_datetime: z.string().nullish(),
  closed_datetime: z.string().nullish(),
  /** When it was moved to the trash. */
  trashed_datetime: z.string().nullish(),
});
export type GorgiasTicket = z.infer<typeof GorgiasTicket>;

export const ticketOf = (ticket: GorgiasTicket): Ticket => ({
  id: String(ticket.id),
  key: null,
  title: ticket.subject ?? '',
  description: null,
  status: ticket.status === 'closed' ? 'closed' : 'open',
  provider_status: ticket.status,
  priority: null,
  type: ticket.channel ?? null,
  tags: (ticket.tags ?? []).map(({ name }) => name),
  collection_id: null,
  requester_id: idText(ticket.customer?.id),
  assignee_ids: [idText(ticket.assignee_user?.id)].filter((id) => id !== null),
  url: null,
  created_at: ticket.created_datetime ?? null,
  updated_at: ticket.updated_datetime ?? null,
  closed_at: ticket.closed_datetime ?? null,
});

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);

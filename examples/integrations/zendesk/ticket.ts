import { z } from 'zod';

/** What is kept of a ticket. */
export const Ticket = z.object({
  id: z.string(),
  subject: z.string(),
  status: z.string(),
  updatedAt: z.string(),
});

export interface ZendeskTicket {
  id: number;
  subject: string | null;
  status: string;
  updated_at: string;
}

export const ticketOf = (ticket: ZendeskTicket): z.infer<typeof Ticket> => ({
  id: String(ticket.id),
  subject: ticket.subject ?? '',
  status: ticket.status,
  updatedAt: ticket.updated_at,
});

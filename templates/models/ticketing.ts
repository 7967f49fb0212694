import { z } from 'zod';

/** Common models of issue trackers and help desks. */

export const ticketStatus = z.enum(['open', 'in_progress', 'waiting', 'closed']);

export const Ticket = z.object({
  id: z.string(),
  /** The name that people use, such as APP-12. */
  key: z.string().nullable(),
  title: z.string(),
  description: z.string().nullable(),
  status: ticketStatus,
  /** As the provider calls it. */
  provider_status: z.string(),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).nullable(),
  type: z.string().nullable(),
  tags: z.array(z.string()),
  /** Project, board or repository. */
  collection_id: z.string().nullable(),
  requester_id: z.string().nullable(),
  assignee_ids: z.array(z.string()),
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
  closed_at: z.string().nullable(),
});
export type Ticket = z.infer<typeof Ticket>;

export const TicketComment = z.object({
  id: z.string(),
  ticket_id: z.string(),
  body: z.string(),
  is_public: z.boolean(),
  author_id: z.string().nullable(),
  created_at: z.string().nullable(),
});
export type TicketComment = z.infer<typeof TicketComment>;

/** A project, board or repository, which holds tickets. */
export const TicketCollection = z.object({
  id: z.string(),
  key: z.string().nullable(),
  name: z.string(),
  description: z.string().nullable(),
  url: z.string().nullable(),
  is_archived: z.boolean(),
});
export type TicketCollection = z.infer<typeof TicketCollection>;

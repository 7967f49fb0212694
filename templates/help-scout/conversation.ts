import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

/** A conversation as Help Scout returns it. */
export const HelpScoutConversation = z.object({
  id: z.number(),
  number: z.number(),
  type: z.string().nullish(),
  status: z.enum(['active', 'closed', 'open', 'pending', 'spam']),
  subject: z.string().nullish(),
  preview: z.string().nullish(),
  mailboxId: z.number().nullish(),
  assignee: z.object({ id: z.number() }).nullish(),
  primaryCustomer: z.object({ id: z.number() }).nullish(),
  tags: z.array(z.object({ tag: z.string() })).nullish(),
  createdAt: z.string(),
  closedAt: z.string().nullish(),
  userUpdatedAt: z.string().nullish(),
});
export type HelpScoutConversation = z.infer<typeof HelpScoutConversation>;

const statuses = {
  active: 'open',
  open: 'open',
  pending: 'waiting',
  closed: 'closed',
  spam: 'closed',
} as const;

export const ticketOf = (conversation: HelpScoutConversation): Ticket => ({
  id: String(conversation.id),
  key: `#${conversation.number}`,
  title: conversation.subject ?? '',
  description: conversation.preview ?? null,
  status: statuses[conversation.status],
  provider_status: conversation.status,
  priority: null,
  type: conversation.type ?? null,
  tags: (conversation.tags ?? []).map(({ tag }) => tag),
  collection_id: idText(conversation.mailboxId),
  requester_id: idText(conversation.primaryCustomer?.id),
  assignee_ids: [idText(conversation.assignee?.id)].filter((id) => id !== null),
  url: `https://secure.helpscout.net/conversation/${conversation.id}/${conversation.number}/`,
  created_at: conversation.createdAt,
  updated_at: conversation.userUpdatedAt ?? null,
  closed_at: conversation.closedAt ?? null,
});

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);

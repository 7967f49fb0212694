import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';
import { isoOfSeconds } from '../shared/times.js';

/** A conversation as Intercom returns it. */
export const IntercomConversation = z.object({
  id: z.string(),
  title: z.string().nullish(),
  state: z.enum(['open', 'closed', 'snoozed']),
  priority: z.enum(['priority', 'not_priority']).nullish(),
  admin_assignee_id: z.number().nullish(),
  team_assignee_id: z.number().nullish(),
  tags: z.object({ tags: z.array(z.object({ name: z.string() })).nullish() }).nullish(),
  source: z
    .object({ type: z.string(), subject: z.string().nullish(), body: z.string().nullish() })
    .nullish(),
  contacts: z.object({ contacts: z.array(z.object({ id: z.string() })).nullish() }).nullish(),
  /** Seconds since the epoch. */
  created_at: z.number(),
  updated_at: z.number(),
});
export type IntercomConversation = z.infer<typeof IntercomConversation>;

const statuses = { open: 'open', snoozed: 'waiting', closed: 'closed' } as const;

export const ticketOf = (conversation: IntercomConversation): Ticket => ({
  id: conversation.id,
  key: null,
  title: conversation.title ?? conversation.source?.subject ?? '',
  description: conversation.source?.body ?? null,
  status: statuses[conversation.state],
  provider_status: conversation.state,
  priority: conversation.priority === 'priority' ? 'high' : 'normal',
  type: conversation.source?.type ?? null,
  tags: (conversation.tags?.tags ?? []).map(({ name }) => name),
  collection_id: idText(conversation.team_assignee_id),
  requester_id: conversation.contacts?.contacts?.[0]?.id ?? null,
  assignee_ids: [idText(conversation.admin_assignee_id)].filter((id) => id !== null),
  url: null,
  created_at: isoOfSeconds(conversation.created_at),
  updated_at: isoOfSeconds(conversation.updated_at),
  closed_at: null,
});

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);

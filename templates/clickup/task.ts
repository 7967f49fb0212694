import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

const user = z.object({ id: z.number() });

/** A task as ClickUp returns it. Times are milliseconds since the epoch, as text. */
export const ClickupTask = z.object({
  id: z.string(),
  custom_id: z.string().nullish(),
  name: z.string(),
  description: z.string().nullish(),
  /** Of the types `open`, `unstarted`, `custom`, `done` and `closed`; the status has the name that people see. */
  status: z.object({ status: z.string(), type: z.string() }),
  priority: z.object({ priority: z.string() }).nullish(),
  tags: z.array(z.object({ name: z.string() })),
  creator: user.nullish(),
  assignees: z.array(user),
  list: z.object({ id: z.string() }),
  url: z.string(),
  date_created: z.string(),
  date_updated: z.string(),
  date_closed: z.string().nullish(),
});
export type ClickupTask = z.infer<typeof ClickupTask>;

const statuses: Readonly<Record<string, Ticket['status']>> = {
  open: 'open',
  unstarted: 'open',
  done: 'closed',
  closed: 'closed',
};

const priorities: Readonly<Record<string, Ticket['priority']>> = {
  urgent: 'urgent',
  high: 'high',
  normal: 'normal',
  low: 'low',
};

const isoOf = (time: string): string => new Date(Number(time)).toISOString();

export const ticketOf = (task: ClickupTask): Ticket => ({
  id: task.id,
  key: task.custom_id ?? null,
  title: task.name,
  description: task.description || null,
  status: statuses[task.status.type] ?? 'in_progress',
  provider_status: task.status.status,
  priority: priorities[task.priority?.priority ?? ''] ?? null,
  type: null,
  tags: task.tags.map(({ name }) => name),
  collection_id: task.list.id,
  requester_id: task.creator ? String(task.creator.id) : null,
  assignee_ids: task.assignees.map(({ id }) => String(id)),
  url: task.url,
  created_at: isoOf(task.date_created),
  updated_at: isoOf(task.date_updated),
  closed_at: task.date_closed ? isoOf(task.date_closed) : null,
});

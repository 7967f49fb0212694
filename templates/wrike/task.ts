import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

/** A task as Wrike returns it, with the optional fields that `taskFields` asks for. */
export const WrikeTask = z.object({
  id: z.string(),
  title: z.string(),
  /** HTML. */
  description: z.string().nullish(),
  status: z.enum(['Active', 'Completed', 'Deferred', 'Cancelled']),
  importance: z.enum(['High', 'Normal', 'Low']),
  parentIds: z.array(z.string()),
  authorIds: z.array(z.string()),
  responsibleIds: z.array(z.string()),
  permalink: z.string(),
  createdDate: z.string(),
  updatedDate: z.string(),
  completedDate: z.string().nullish(),
});
export type WrikeTask = z.infer<typeof WrikeTask>;

export const taskFields = ['description', 'parentIds', 'authorIds', 'responsibleIds'];

const statuses: Readonly<Record<WrikeTask['status'], Ticket['status']>> = {
  Active: 'open',
  Deferred: 'waiting',
  Completed: 'closed',
  Cancelled: 'closed',
};

const priorities: Readonly<Record<WrikeTask['importance'], Ticket['priority']>> = {
  High: 'high',
  Normal: 'normal',
  Low: 'low',
};

export const ticketOf = (task: WrikeTask): Ticket => ({
  id: task.id,
  key: null,
  title: task.title,
  description: task.description || null,
  status: statuses[task.status],
  provider_status: task.status,
  priority: priorities[task.importance],
  type: null,
  tags: [],
  // The first of the folders and projects that it is in.
  collection_id: task.parentIds[0] ?? null,
  requester_id: task.authorIds[0] ?? null,
  assignee_ids: task.responsibleIds,
  url: task.permalink,
  created_at: task.createdDate,
  updated_at: task.updatedDate,
  closed_at: task.completedDate ?? null,
});

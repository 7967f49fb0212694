import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

/** A task as Todoist returns it. */
export const TodoistTask = z.object({
  id: z.string(),
  content: z.string(),
  description: z.string(),
  project_id: z.string(),
  labels: z.array(z.string()),
  /** 4: very urgent; 1: none. In the apps it is the other way round. */
  priority: z.number(),
  checked: z.boolean(),
  is_deleted: z.boolean(),
  added_by_uid: z.string().nullish(),
  responsible_uid: z.string().nullish(),
  added_at: z.string().nullish(),
  updated_at: z.string().nullish(),
  completed_at: z.string().nullish(),
});
export type TodoistTask = z.infer<typeof TodoistTask>;

const priorities = new Map<number, Ticket['priority']>([
  [4, 'urgent'],
  [3, 'high'],
  [2, 'normal'],
]);

export const urlOf = (id: string): string => `https://app.todoist.com/app/task/${id}`;

export const ticketOf = (task: TodoistTask): Ticket => ({
  id: task.id,
  key: null,
  title: task.content,
  description: task.description || null,
  status: task.checked ? 'closed' : 'open',
  provider_status: task.checked ? 'completed' : 'active',
  priority: priorities.get(task.priority) ?? null,
  type: null,
  tags: task.labels,
  collection_id: task.project_id,
  requester_id: task.added_by_uid ?? null,
  assignee_ids: task.responsible_uid ? [task.responsible_uid] : [],
  url: urlOf(task.id),
  created_at: task.added_at ?? null,
  updated_at: task.updated_at ?? null,
  closed_at: task.completed_at ?? null,
});

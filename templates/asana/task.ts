import { z } from 'zod';
import type { Ticket } from '../models/ticketing.js';

const reference = z.object({ gid: z.string() });

/** A task as Asana returns it, with the fields that `taskFields` asks for. */
export const AsanaTask = z.object({
  gid: z.string(),
  name: z.string(),
  notes: z.string(),
  completed: z.boolean(),
  completed_at: z.string().nullable(),
  resource_subtype: z.string(),
  assignee: reference.nullable(),
  created_by: reference.nullish(),
  tags: z.array(z.object({ name: z.string() })),
  permalink_url: z.string(),
  created_at: z.string(),
  modified_at: z.string(),
});
export type AsanaTask = z.infer<typeof AsanaTask>;

export const taskFields =
  'name,notes,completed,completed_at,resource_subtype,assignee,created_by,tags.name,permalink_url,created_at,modified_at';

/** @param project its gid */
export const ticketOf = (task: AsanaTask, project: string): Ticket => ({
  id: task.gid,
  key: null,
  title: task.name,
  description: task.notes || null,
  status: task.completed ? 'closed' : 'open',
  provider_status: task.completed ? 'completed' : 'incomplete',
  priority: null,
  type: task.resource_subtype,
  tags: task.tags.map(({ name }) => name),
  collection_id: project,
  requester_id: task.created_by?.gid ?? null,
  assignee_ids: task.assignee === null ? [] : [task.assignee.gid],
  url: task.permalink_url,
  created_at: task.created_at,
  updated_at: task.modified_at,
  closed_at: task.completed_at,
});

import { z } from 'zod';
import type { TicketCollection } from '../models/ticketing.js';

/** A project as Todoist returns it. */
export const TodoistProject = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  is_archived: z.boolean(),
  is_deleted: z.boolean(),
});
export type TodoistProject = z.infer<typeof TodoistProject>;

export const collectionOf = (project: TodoistProject): TicketCollection => ({
  id: project.id,
  key: null,
  name: project.name,
  description: project.description || null,
  url: null,
  is_archived: project.is_archived,
});

import { z } from 'zod';
import type { TicketCollection } from '../models/ticketing.js';

/** A project as Asana returns it, with the fields that `projectFields` asks for. */
export const AsanaProject = z.object({
  gid: z.string(),
  name: z.string(),
  notes: z.string(),
  archived: z.boolean(),
  permalink_url: z.string(),
});
export type AsanaProject = z.infer<typeof AsanaProject>;

export const projectFields = 'name,notes,archived,permalink_url';

export const collectionOf = (project: AsanaProject): TicketCollection => ({
  id: project.gid,
  key: null,
  name: project.name,
  description: project.notes || null,
  url: project.permalink_url,
  is_archived: project.archived,
});

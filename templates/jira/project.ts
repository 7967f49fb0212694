import { z } from 'zod';
import type { TicketCollection } from '../models/ticketing.js';

/** A project as Jira returns it. */
export const JiraProject = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  description: z.string().optional(),
  archived: z.boolean().optional(),
  self: z.string(),
});
export type JiraProject = z.infer<typeof JiraProject>;

export const collectionOf = (project: JiraProject): TicketCollection => ({
  id: project.id,
  key: project.key,
  name: project.name,
  description: project.description ?? null,
  url: project.self,
  is_archived: project.archived ?? false,
});

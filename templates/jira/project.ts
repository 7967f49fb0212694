import { z } from 'zod';
import type { TicketCollection } from '../models/ticketing.js';
import type { PageOf } from './site.js';

/** A project as Jira returns it. */
export const JiraProject = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  description: z.string().optional(),
  archived: z.boolean().optional(),
});
export type JiraProject = z.infer<typeof JiraProject>;

export const collectionOf = (project: JiraProject, pageOf: PageOf): TicketCollection => ({
  id: project.id,
  key: project.key,
  name: project.name,
  description: project.description ?? null,
  url: pageOf(project.key),
  is_archived: project.archived ?? false,
});

import { z } from 'zod';
import type { TicketCollection } from '../models/ticketing.js';

/** A project as GitLab returns it. */
export const GitlabProject = z.object({
  id: z.number(),
  name: z.string(),
  path_with_namespace: z.string(),
  description: z.string().nullable(),
  web_url: z.string(),
  archived: z.boolean().optional(),
});
export type GitlabProject = z.infer<typeof GitlabProject>;

export const collectionOf = (project: GitlabProject): TicketCollection => ({
  id: String(project.id),
  key: project.path_with_namespace,
  name: project.name,
  description: project.description,
  url: project.web_url,
  is_archived: project.archived ?? false,
});

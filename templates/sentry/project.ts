import { z } from 'zod';

/** A project as Sentry lists it. */
export const SentryApiProject = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  /** Empty or null: none was chosen. */
  platform: z.string().nullable(),
  teams: z.array(z.object({ slug: z.string() })),
  environments: z.array(z.string()),
  dateCreated: z.string(),
  /** Of the first event; null: there was none. */
  firstEvent: z.string().nullable(),
});
export type SentryApiProject = z.infer<typeof SentryApiProject>;

export const SentryProject = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  platform: z.string().nullable(),
  team_slugs: z.array(z.string()),
  environments: z.array(z.string()),
  first_event_at: z.string().nullable(),
  created_at: z.string(),
});
export type SentryProject = z.infer<typeof SentryProject>;

export const projectOf = (project: SentryApiProject): SentryProject => ({
  id: project.id,
  slug: project.slug,
  name: project.name,
  platform: project.platform || null,
  team_slugs: project.teams.map(({ slug }) => slug),
  environments: project.environments,
  first_event_at: project.firstEvent,
  created_at: project.dateCreated,
});

import { z } from 'zod';

/** A user as PagerDuty lists it. */
export const PagerDutyApiUser = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  time_zone: z.string(),
  role: z.string(),
  job_title: z.string().nullish(),
  description: z.string().nullish(),
  /** Not yet answered. */
  invitation_sent: z.boolean(),
  teams: z.array(z.object({ id: z.string() })),
  html_url: z.string().nullable(),
});
export type PagerDutyApiUser = z.infer<typeof PagerDutyApiUser>;

export const PagerDutyUser = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  time_zone: z.string(),
  role: z.string(),
  job_title: z.string().nullable(),
  description: z.string().nullable(),
  is_invited: z.boolean(),
  team_ids: z.array(z.string()),
  url: z.string().nullable(),
});
export type PagerDutyUser = z.infer<typeof PagerDutyUser>;

export const userOf = (user: PagerDutyApiUser): PagerDutyUser => ({
  id: user.id,
  name: user.name,
  email: user.email,
  time_zone: user.time_zone,
  role: user.role,
  job_title: user.job_title || null,
  description: user.description || null,
  is_invited: user.invitation_sent,
  team_ids: user.teams.map(({ id }) => id),
  url: user.html_url,
});

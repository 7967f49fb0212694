import { z } from 'zod';

/** A team as the list of joined teams returns it. */
export const TeamsApiTeam = z.object({
  id: z.string(),
  displayName: z.string().nullish(),
  description: z.string().nullish(),
});
export type TeamsApiTeam = z.infer<typeof TeamsApiTeam>;

export const Team = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
});
export type Team = z.infer<typeof Team>;

export const teamOf = (team: TeamsApiTeam): Team => ({
  id: team.id,
  name: team.displayName ?? '',
  description: team.description || null,
});

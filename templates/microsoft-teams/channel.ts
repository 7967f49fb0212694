import { z } from 'zod';

/** A channel as Teams returns it, with the fields that `channelFields` asks for. */
export const TeamsApiChannel = z.object({
  id: z.string(),
  displayName: z.string().nullish(),
  description: z.string().nullish(),
  membershipType: z.string().nullish(),
  webUrl: z.string().nullish(),
  createdDateTime: z.string().nullish(),
});
export type TeamsApiChannel = z.infer<typeof TeamsApiChannel>;

export const channelFields = Object.keys(TeamsApiChannel.shape);

export const Channel = z.object({
  id: z.string(),
  team_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** `standard`, `private` or `shared`. */
  type: z.string().nullable(),
  url: z.string().nullable(),
  created_at: z.string().nullable(),
});
export type Channel = z.infer<typeof Channel>;

/** @param teamId the team of the channel */
export const channelOf = (channel: TeamsApiChannel, teamId: string): Channel => ({
  id: channel.id,
  team_id: teamId,
  name: channel.displayName ?? '',
  description: channel.description || null,
  type: channel.membershipType ?? null,
  url: channel.webUrl ?? null,
  created_at: channel.createdDateTime ?? null,
});

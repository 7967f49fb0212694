import { z } from 'zod';

/** A member of a server (guild) as Discord lists it. */
export const DiscordMember = z.object({
  user: z.object({
    id: z.string(),
    username: z.string(),
    global_name: z.string().nullish(),
    bot: z.boolean().nullish(),
  }),
  nick: z.string().nullish(),
  /** Ids of roles. */
  roles: z.array(z.string()),
  joined_at: z.string().nullish(),
});
export type DiscordMember = z.infer<typeof DiscordMember>;

export const Member = z.object({
  /** Of the user. */
  id: z.string(),
  username: z.string(),
  /** As the server shows it. */
  display_name: z.string(),
  is_bot: z.boolean(),
  role_ids: z.array(z.string()),
  joined_at: z.string().nullable(),
});
export type Member = z.infer<typeof Member>;

export const memberOf = ({ user, nick, roles, joined_at: joinedAt }: DiscordMember): Member => ({
  id: user.id,
  username: user.username,
  display_name: nick ?? user.global_name ?? user.username,
  is_bot: user.bot ?? false,
  role_ids: roles,
  joined_at: joinedAt ?? null,
});

import { z } from 'zod';

/** A member of a workspace as Slack returns it. */
export const SlackMember = z.object({
  id: z.string(),
  name: z.string(),
  deleted: z.boolean().optional(),
  is_bot: z.boolean().optional(),
  is_admin: z.boolean().optional(),
  tz: z.string().nullish(),
  updated: z.number().optional(),
  profile: z.object({
    real_name: z.string().nullish(),
    display_name: z.string().nullish(),
    email: z.string().nullish(),
    title: z.string().nullish(),
  }),
});
export type SlackMember = z.infer<typeof SlackMember>;

export const SlackUser = z.object({
  id: z.string(),
  /** Of the account. */
  handle: z.string(),
  name: z.string(),
  display_name: z.string().nullable(),
  /** Without the scope `users:read.email` null. */
  email: z.string().nullable(),
  title: z.string().nullable(),
  time_zone: z.string().nullable(),
  is_bot: z.boolean(),
  is_admin: z.boolean(),
  is_active: z.boolean(),
  updated_at: z.string().nullable(),
});
export type SlackUser = z.infer<typeof SlackUser>;

export const userOf = (member: SlackMember): SlackUser => ({
  id: member.id,
  handle: member.name,
  name: member.profile.real_name || member.name,
  display_name: member.profile.display_name || null,
  email: member.profile.email || null,
  title: member.profile.title || null,
  time_zone: member.tz ?? null,
  // Of Slackbot Slack says that it is none.
  is_bot: member.is_bot === true || member.id === 'USLACKBOT',
  is_admin: member.is_admin ?? false,
  is_active: member.deleted !== true,
  updated_at: member.updated === undefined ? null : new Date(member.updated * 1000).toISOString(),
});

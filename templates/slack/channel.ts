import { z } from 'zod';

const text = z.object({ value: z.string() });

/** A channel as Slack returns it. */
export const SlackConversation = z.object({
  id: z.string(),
  name: z.string(),
  /** Seconds since the epoch. */
  created: z.number(),
  creator: z.string().optional(),
  is_private: z.boolean(),
  is_archived: z.boolean(),
  is_member: z.boolean().optional(),
  topic: text.optional(),
  purpose: text.optional(),
  num_members: z.number().optional(),
});
export type SlackConversation = z.infer<typeof SlackConversation>;

export const SlackChannel = z.object({
  id: z.string(),
  name: z.string(),
  topic: z.string().nullable(),
  purpose: z.string().nullable(),
  is_private: z.boolean(),
  is_archived: z.boolean(),
  /** Whether the app was added. */
  is_member: z.boolean(),
  member_count: z.number().nullable(),
  creator_id: z.string().nullable(),
  created_at: z.string(),
});
export type SlackChannel = z.infer<typeof SlackChannel>;

export const channelOf = (channel: SlackConversation): SlackChannel => ({
  id: channel.id,
  name: channel.name,
  topic: channel.topic?.value || null,
  purpose: channel.purpose?.value || null,
  is_private: channel.is_private,
  is_archived: channel.is_archived,
  is_member: channel.is_member ?? false,
  member_count: channel.num_members ?? null,
  creator_id: channel.creator ?? null,
  created_at: new Date(channel.created * 1000).toISOString(),
});

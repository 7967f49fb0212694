import { z } from 'zod';

/** A user as Notion returns it. */
export const NotionApiUser = z.object({
  id: z.string(),
  type: z.enum(['person', 'bot']).optional(),
  name: z.string().nullish(),
  person: z.object({ email: z.string().optional() }).optional(),
});
export type NotionApiUser = z.infer<typeof NotionApiUser>;

export const NotionUser = z.object({
  id: z.string(),
  name: z.string().nullable(),
  /** Null without the capability to read addresses. */
  email: z.string().nullable(),
  is_bot: z.boolean(),
});
export type NotionUser = z.infer<typeof NotionUser>;

export const userOf = (user: NotionApiUser): NotionUser => ({
  id: user.id,
  name: user.name ?? null,
  email: user.person?.email ?? null,
  is_bot: user.type === 'bot',
});

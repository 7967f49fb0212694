import { z } from 'zod';

const identity = z.object({ id: z.string(), displayName: z.string().nullish() });

/** A message of a channel as Teams returns it. */
export const TeamsApiMessage = z.object({
  id: z.string(),
  /** `message`, or one of the kinds that Teams itself writes. */
  messageType: z.string(),
  subject: z.string().nullish(),
  body: z.object({ contentType: z.string(), content: z.string().nullish() }),
  importance: z.string().nullish(),
  /** Who wrote it: a person or an application. */
  from: z.object({ user: identity.nullish(), application: identity.nullish() }).nullish(),
  webUrl: z.string().nullish(),
  createdDateTime: z.string(),
  lastModifiedDateTime: z.string().nullish(),
  lastEditedDateTime: z.string().nullish(),
  deletedDateTime: z.string().nullish(),
});
export type TeamsApiMessage = z.infer<typeof TeamsApiMessage>;

export const ChannelMessage = z.object({
  id: z.string(),
  channel_id: z.string(),
  type: z.string(),
  subject: z.string().nullable(),
  body: z.string(),
  is_html: z.boolean(),
  importance: z.string().nullable(),
  sender_id: z.string().nullable(),
  sender_name: z.string().nullable(),
  url: z.string().nullable(),
  created_at: z.string(),
  /** Of an edit or a reaction too. */
  updated_at: z.string().nullable(),
  edited_at: z.string().nullable(),
});
export type ChannelMessage = z.infer<typeof ChannelMessage>;

/** @param channelId the channel that holds the message */
export function messageOf(message: TeamsApiMessage, channelId: string): ChannelMessage {
  const sender = message.from?.user ?? message.from?.application;
  return {
    id: message.id,
    channel_id: channelId,
    type: message.messageType,
    subject: message.subject ?? null,
    body: message.body.content ?? '',
    is_html: message.body.contentType === 'html',
    importance: message.importance ?? null,
    sender_id: sender?.id ?? null,
    sender_name: sender?.displayName ?? null,
    url: message.webUrl ?? null,
    created_at: message.createdDateTime,
    updated_at: message.lastModifiedDateTime ?? null,
    edited_at: message.lastEditedDateTime ?? null,
  };
}

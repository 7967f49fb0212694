import { z } from 'zod';

const recipient = z.object({
  emailAddress: z.object({ name: z.string().optional(), address: z.string().optional() }),
});

/** A message as Outlook returns it. A change holds at least what has changed. */
export const OutlookApiMessage = z.object({
  id: z.string(),
  subject: z.string().nullish(),
  bodyPreview: z.string().optional(),
  from: recipient.nullish(),
  toRecipients: z.array(recipient).optional(),
  ccRecipients: z.array(recipient).optional(),
  receivedDateTime: z.string().optional(),
  sentDateTime: z.string().optional(),
  isRead: z.boolean().optional(),
  isDraft: z.boolean().optional(),
  hasAttachments: z.boolean().optional(),
  conversationId: z.string().optional(),
  categories: z.array(z.string()).optional(),
  webLink: z.string().optional(),
});
export type OutlookApiMessage = z.infer<typeof OutlookApiMessage>;

export const messageFields = Object.keys(OutlookApiMessage.shape);

const Address = z.object({ name: z.string().nullable(), email: z.string().nullable() });
type Address = z.infer<typeof Address>;

export const OutlookMessage = z.object({
  id: z.string(),
  subject: z.string().nullable(),
  /** The first 255 characters of the text. */
  preview: z.string().nullable(),
  from: Address.nullable(),
  to: z.array(Address),
  cc: z.array(Address),
  is_read: z.boolean(),
  is_draft: z.boolean(),
  has_attachments: z.boolean(),
  thread_id: z.string().nullable(),
  categories: z.array(z.string()),
  url: z.string().nullable(),
  sent_at: z.string().nullable(),
  received_at: z.string().nullable(),
});
export type OutlookMessage = z.infer<typeof OutlookMessage>;

const addressOf = ({ emailAddress: { name, address } }: z.infer<typeof recipient>): Address => ({
  name: name ?? null,
  email: address ?? null,
});

/** @param known the record before the change, for what the change leaves out */
export const messageOf = (message: OutlookApiMessage, known?: OutlookMessage): OutlookMessage => ({
  id: message.id,
  subject: message.subject ?? known?.subject ?? null,
  preview: message.bodyPreview ?? known?.preview ?? null,
  from: message.from ? addressOf(message.from) : (known?.from ?? null),
  to: message.toRecipients?.map(addressOf) ?? known?.to ?? [],
  cc: message.ccRecipients?.map(addressOf) ?? known?.cc ?? [],
  is_read: message.isRead ?? known?.is_read ?? false,
  is_draft: message.isDraft ?? known?.is_draft ?? false,
  has_attachments: message.hasAttachments ?? known?.has_attachments ?? false,
  thread_id: message.conversationId ?? known?.thread_id ?? null,
  categories: message.categories ?? known?.categories ?? [],
  url: message.webLink ?? known?.url ?? null,
  sent_at: message.sentDateTime ?? known?.sent_at ?? null,
  received_at: message.receivedDateTime ?? known?.received_at ?? null,
});

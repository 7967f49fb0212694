import { z } from 'zod';

/** A list (audience) as Mailchimp returns it. */
export const MailchimpList = z.object({
  id: z.string(),
  name: z.string(),
  date_created: z.string(),
  stats: z.object({ member_count: z.number() }).nullish(),
});
export type MailchimpList = z.infer<typeof MailchimpList>;

/** A list of addresses to which campaigns are sent. */
export const MailingList = z.object({
  id: z.string(),
  name: z.string(),
  /** Active members. */
  member_count: z.number().nullable(),
  created_at: z.string(),
});
export type MailingList = z.infer<typeof MailingList>;

export const mailingListOf = (list: MailchimpList): MailingList => ({
  id: list.id,
  name: list.name,
  member_count: list.stats?.member_count ?? null,
  created_at: list.date_created,
});

import { z } from 'zod';
import { Contact } from '../models/crm.js';

/** A member of a list as Mailchimp returns it. */
export const MailchimpMember = z.object({
  /** Stays when the address changes, unlike `id`, which is a hash of the address. */
  contact_id: z.string(),
  list_id: z.string(),
  email_address: z.string().nullish(),
  status: z.enum(['subscribed', 'unsubscribed', 'cleaned', 'pending', 'transactional', 'archived']),
  /** By the tags of the list's merge fields. */
  merge_fields: z.record(z.string(), z.unknown()).nullish(),
  timestamp_opt: z.string().nullish(),
  last_changed: z.string().nullish(),
});
export type MailchimpMember = z.infer<typeof MailchimpMember>;

export const Subscriber = Contact.extend({
  list_id: z.string(),
  status: MailchimpMember.shape.status,
});
export type Subscriber = z.infer<typeof Subscriber>;

/** `FNAME`, `LNAME` and `PHONE` are the merge fields of a new list. */
export const subscriberOf = (member: MailchimpMember): Subscriber => ({
  id: member.contact_id,
  first_name: textOf(member.merge_fields?.['FNAME']),
  last_name: textOf(member.merge_fields?.['LNAME']),
  emails: [textOf(member.email_address)].filter((email) => email !== null),
  phones: [textOf(member.merge_fields?.['PHONE'])].filter((phone) => phone !== null),
  company_id: null,
  job_title: null,
  owner_id: null,
  created_at: textOf(member.timestamp_opt),
  updated_at: textOf(member.last_changed),
  list_id: member.list_id,
  status: member.status,
});

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

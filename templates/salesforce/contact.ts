import { z } from 'zod';
import type { Contact } from '../models/crm.js';
import { isoOf } from './query.js';

/** A contact as Salesforce returns it, with the fields that `contactFields` asks for. */
export const SalesforceContact = z.object({
  Id: z.string(),
  FirstName: z.string().nullish(),
  LastName: z.string().nullish(),
  Email: z.string().nullish(),
  Phone: z.string().nullish(),
  MobilePhone: z.string().nullish(),
  AccountId: z.string().nullish(),
  Title: z.string().nullish(),
  OwnerId: z.string().nullish(),
  CreatedDate: z.string(),
  SystemModstamp: z.string(),
  IsDeleted: z.boolean(),
});
export type SalesforceContact = z.infer<typeof SalesforceContact>;

export const contactFields = Object.keys(SalesforceContact.shape);

export const contactOf = (contact: SalesforceContact): Contact => ({
  id: contact.Id,
  first_name: contact.FirstName ?? null,
  last_name: contact.LastName ?? null,
  emails: [contact.Email].filter(isText),
  phones: [contact.Phone, contact.MobilePhone].filter(isText),
  company_id: contact.AccountId ?? null,
  job_title: contact.Title ?? null,
  owner_id: contact.OwnerId ?? null,
  created_at: isoOf(contact.CreatedDate),
  updated_at: isoOf(contact.SystemModstamp),
});

const isText = (value: string | null | undefined): value is string =>
  value !== null && value !== undefined && value !== '';

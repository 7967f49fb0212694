import { z } from 'zod';
import type { Company } from '../models/crm.js';
import { isoOf } from './query.js';

/** An account as Salesforce returns it, with the fields that `accountFields` asks for. */
export const SalesforceAccount = z.object({
  Id: z.string(),
  Name: z.string(),
  Website: z.string().nullish(),
  Phone: z.string().nullish(),
  Industry: z.string().nullish(),
  NumberOfEmployees: z.number().nullish(),
  OwnerId: z.string().nullish(),
  CreatedDate: z.string(),
  SystemModstamp: z.string(),
  IsDeleted: z.boolean(),
});
export type SalesforceAccount = z.infer<typeof SalesforceAccount>;

export const accountFields = Object.keys(SalesforceAccount.shape);

export const companyOf = (account: SalesforceAccount): Company => ({
  id: account.Id,
  name: account.Name,
  domain: domainOf(account.Website),
  phone: account.Phone ?? null,
  industry: account.Industry ?? null,
  employee_count: account.NumberOfEmployees ?? null,
  owner_id: account.OwnerId ?? null,
  created_at: isoOf(account.CreatedDate),
  updated_at: isoOf(account.SystemModstamp),
});

/** A website is written with or without scheme and path. */
const domainOf = (website: string | null | undefined): string | null =>
  /^(?:https?:\/\/)?(?:www\.)?([^/:?#\s]+)/i.exec(website ?? '')?.[1]?.toLowerCase() ?? null;

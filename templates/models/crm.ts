import { z } from 'zod';

/** Common models of CRMs. Extend them in the model of a function: `Contact.extend({ … })`. */

export const Contact = z.object({
  id: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  /** The main address first. */
  emails: z.array(z.string()),
  phones: z.array(z.string()),
  company_id: z.string().nullable(),
  job_title: z.string().nullable(),
  owner_id: z.string().nullable(),
  /** ISO 8601. */
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Contact = z.infer<typeof Contact>;

export const Company = z.object({
  id: z.string(),
  name: z.string(),
  domain: z.string().nullable(),
  phone: z.string().nullable(),
  industry: z.string().nullable(),
  employee_count: z.number().nullable(),
  owner_id: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Company = z.infer<typeof Company>;

export const Deal = z.object({
  id: z.string(),
  name: z.string(),
  /** In the units of the currency, not in cents. */
  amount: z.number().nullable(),
  /** ISO 4217. */
  currency: z.string().nullable(),
  stage: z.string().nullable(),
  status: z.enum(['open', 'won', 'lost']).nullable(),
  company_id: z.string().nullable(),
  contact_ids: z.array(z.string()),
  owner_id: z.string().nullable(),
  /** ISO 8601 date. */
  close_date: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Deal = z.infer<typeof Deal>;

/** A person who works in the CRM. */
export const CrmUser = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  is_active: z.boolean(),
});
export type CrmUser = z.infer<typeof CrmUser>;

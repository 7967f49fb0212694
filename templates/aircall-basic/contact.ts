import { z } from 'zod';
import type { Contact } from '../models/crm.js';
import { isoOfSeconds } from '../shared/times.js';

/** A shared contact as Aircall returns it. Times are seconds since the epoch. */
export const AircallContact = z.object({
  id: z.number(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  emails: z.array(z.object({ value: z.string() })).nullish(),
  phone_numbers: z.array(z.object({ value: z.string() })).nullish(),
  created_at: z.number(),
  updated_at: z.number(),
});
export type AircallContact = z.infer<typeof AircallContact>;

export const contactOf = (contact: AircallContact): Contact => ({
  id: String(contact.id),
  first_name: contact.first_name ?? null,
  last_name: contact.last_name ?? null,
  emails: (contact.emails ?? []).map(({ value }) => value),
  phones: (contact.phone_numbers ?? []).map(({ value }) => value),
  company_id: null,
  job_title: null,
  owner_id: null,
  created_at: isoOfSeconds(contact.created_at),
  updated_at: isoOfSeconds(contact.updated_at),
});

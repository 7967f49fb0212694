import { z } from 'zod';
import type { Contact } from '../models/crm.js';
import { namePartsOf } from '../shared/names.js';
import { isoOfSeconds } from '../shared/times.js';

/** A user or lead as Intercom returns it. */
export const IntercomContact = z.object({
  id: z.string(),
  name: z.string().nullish(),
  email: z.string().nullish(),
  phone: z.string().nullish(),
  owner_id: z.number().nullish(),
  companies: z.object({ data: z.array(z.object({ id: z.string() })).nullish() }).nullish(),
  /** Seconds since the epoch. */
  created_at: z.number(),
  updated_at: z.number(),
});
export type IntercomContact = z.infer<typeof IntercomContact>;

export const contactOf = (contact: IntercomContact): Contact => ({
  id: contact.id,
  ...namePartsOf(contact.name),
  emails: [contact.email].filter(isText),
  phones: [contact.phone].filter(isText),
  company_id: contact.companies?.data?.[0]?.id ?? null,
  job_title: null,
  owner_id: typeof contact.owner_id === 'number' ? String(contact.owner_id) : null,
  created_at: isoOfSeconds(contact.created_at),
  updated_at: isoOfSeconds(contact.updated_at),
});

const isText = (value: string | null | undefined): value is string =>
  value !== null && value !== undefined && value !== '';

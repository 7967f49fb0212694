import { z } from 'zod';
import type { Contact } from '../models/crm.js';
import { namePartsOf } from '../shared/names.js';
import { isoOfSeconds } from '../shared/times.js';

/** A contact as Front returns it. */
export const FrontContact = z.object({
  id: z.string(),
  name: z.string().nullish(),
  handles: z.array(z.object({ source: z.string(), handle: z.string() })).nullish(),
  /** Seconds since the epoch. */
  updated_at: z.number().nullish(),
});
export type FrontContact = z.infer<typeof FrontContact>;

export const contactOf = (contact: FrontContact): Contact => ({
  id: contact.id,
  ...namePartsOf(contact.name),
  emails: handlesOf(contact, 'email'),
  phones: handlesOf(contact, 'phone'),
  company_id: null,
  job_title: null,
  owner_id: null,
  created_at: null,
  updated_at: isoOfSeconds(contact.updated_at),
});

const handlesOf = ({ handles }: FrontContact, kind: string): string[] =>
  (handles ?? []).filter(({ source }) => source === kind).map(({ handle }) => handle);

import { z } from 'zod';
import type { Contact } from '../models/crm.js';

const Linked = z.object({ id: z.number() }).nullish();

/** A person as Salesloft returns it. */
export const SalesloftPerson = z.object({
  id: z.number(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  title: z.string().nullish(),
  email_address: z.string().nullish(),
  secondary_email_address: z.string().nullish(),
  personal_email_address: z.string().nullish(),
  phone: z.string().nullish(),
  mobile_phone: z.string().nullish(),
  home_phone: z.string().nullish(),
  account: Linked,
  owner: Linked,
  created_at: z.string(),
  updated_at: z.string(),
});
export type SalesloftPerson = z.infer<typeof SalesloftPerson>;

export const contactOf = (person: SalesloftPerson): Contact => ({
  id: String(person.id),
  first_name: person.first_name ?? null,
  last_name: person.last_name ?? null,
  emails: [
    person.email_address,
    person.secondary_email_address,
    person.personal_email_address,
  ].filter(isText),
  phones: [person.phone, person.mobile_phone, person.home_phone].filter(isText),
  company_id: idText(person.account?.id),
  job_title: person.title ?? null,
  owner_id: idText(person.owner?.id),
  created_at: person.created_at,
  updated_at: person.updated_at,
});

const isText = (value: string | null | undefined): value is string =>
  value !== null && value !== undefined && value !== '';

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);

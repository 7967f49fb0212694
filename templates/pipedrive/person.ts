import { z } from 'zod';
import type { Contact } from '../models/crm.js';

const labeledValues = z
  .array(z.object({ value: z.string(), primary: z.boolean().nullish() }))
  .nullish();

/** A person as Pipedrive returns it. */
export const PipedrivePerson = z.object({
  id: z.number(),
  name: z.string(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  emails: labeledValues,
  phones: labeledValues,
  org_id: z.number().nullish(),
  owner_id: z.number().nullish(),
  /** Left out where the company does not synchronize contacts. */
  job_title: z.string().nullish(),
  add_time: z.string().nullish(),
  update_time: z.string().nullish(),
});
export type PipedrivePerson = z.infer<typeof PipedrivePerson>;

export const contactOf = (person: PipedrivePerson): Contact => ({
  id: String(person.id),
  first_name: person.first_name ?? null,
  last_name: person.last_name ?? null,
  emails: valuesOf(person.emails),
  phones: valuesOf(person.phones),
  company_id: idText(person.org_id),
  job_title: person.job_title ?? null,
  owner_id: idText(person.owner_id),
  created_at: person.add_time ?? null,
  updated_at: person.update_time ?? null,
});

/** The primary value first. */
function valuesOf(values: z.infer<typeof labeledValues>): string[] {
  const all = (values ?? []).filter(({ value }) => value !== '');
  const primary = all.filter((one) => one.primary === true);
  const others = all.filter((one) => one.primary !== true);
  return [...primary, ...others].map(({ value }) => value);
}

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);

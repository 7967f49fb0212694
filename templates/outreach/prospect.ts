import { z } from 'zod';
import type { Contact } from '../models/crm.js';

const Phones = z.array(z.string()).nullish();
const Related = z.object({ data: z.object({ id: z.number() }).nullish() }).nullish();

/** A prospect as Outreach returns it. */
export const OutreachProspect = z.object({
  id: z.number(),
  attributes: z.object({
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    title: z.string().nullish(),
    emails: z.array(z.string()).nullish(),
    workPhones: Phones,
    mobilePhones: Phones,
    homePhones: Phones,
    otherPhones: Phones,
    voipPhones: Phones,
    createdAt: z.string().nullish(),
    updatedAt: z.string().nullish(),
  }),
  relationships: z.object({ account: Related, owner: Related }).nullish(),
});
export type OutreachProspect = z.infer<typeof OutreachProspect>;

export const contactOf = ({ id, attributes, relationships }: OutreachProspect): Contact => ({
  id: String(id),
  first_name: attributes.firstName ?? null,
  last_name: attributes.lastName ?? null,
  emails: attributes.emails ?? [],
  phones: [
    attributes.workPhones,
    attributes.mobilePhones,
    attributes.homePhones,
    attributes.otherPhones,
    attributes.voipPhones,
  ].flatMap((phones) => phones ?? []),
  company_id: idText(relationships?.account?.data?.id),
  job_title: attributes.title ?? null,
  owner_id: idText(relationships?.owner?.data?.id),
  created_at: attributes.createdAt ?? null,
  updated_at: attributes.updatedAt ?? null,
});

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);

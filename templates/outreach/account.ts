import { z } from 'zod';
import type { Company } from '../models/crm.js';

/** An account as Outreach returns it. */
export const OutreachAccount = z.object({
  id: z.number(),
  attributes: z.object({
    name: z.string().nullish(),
    domain: z.string().nullish(),
    industry: z.string().nullish(),
    numberOfEmployees: z.number().nullish(),
    createdAt: z.string().nullish(),
    updatedAt: z.string().nullish(),
  }),
  relationships: z
    .object({ owner: z.object({ data: z.object({ id: z.number() }).nullish() }).nullish() })
    .nullish(),
});
export type OutreachAccount = z.infer<typeof OutreachAccount>;

export function companyOf({ id, attributes, relationships }: OutreachAccount): Company {
  const ownerId = relationships?.owner?.data?.id;
  return {
    id: String(id),
    name: attributes.name ?? '',
    domain: attributes.domain ?? null,
    phone: null,
    industry: attributes.industry ?? null,
    employee_count: attributes.numberOfEmployees ?? null,
    owner_id: ownerId === undefined ? null : String(ownerId),
    created_at: attributes.createdAt ?? null,
    updated_at: attributes.updatedAt ?? null,
  };
}

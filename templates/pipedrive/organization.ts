import { z } from 'zod';
import type { Company } from '../models/crm.js';

/** An organization as Pipedrive returns it. */
export const PipedriveOrganization = z.object({
  id: z.number(),
  name: z.string(),
  owner_id: z.number().nullish(),
  add_time: z.string().nullish(),
  update_time: z.string().nullish(),
});
export type PipedriveOrganization = z.infer<typeof PipedriveOrganization>;

export const companyOf = (organization: PipedriveOrganization): Company => ({
  id: String(organization.id),
  name: organization.name,
  domain: null,
  phone: null,
  industry: null,
  employee_count: null,
  owner_id: typeof organization.owner_id === 'number' ? String(organization.owner_id) : null,
  created_at: organization.add_time ?? null,
  updated_at: organization.update_time ?? null,
});

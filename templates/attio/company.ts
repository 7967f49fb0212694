import { z } from 'zod';
import type { Company } from '../models/crm.js';
import type { AttioRecord } from './record.js';

/** The attributes of a company that the mapping uses. */
export const AttioCompanyValues = z.object({
  name: z.array(z.object({ value: z.string() })).nullish(),
  domains: z.array(z.object({ domain: z.string() })).nullish(),
});
export type AttioCompanyValues = z.infer<typeof AttioCompanyValues>;

export const companyOf = ({
  id,
  values,
  created_at: createdAt,
}: AttioRecord<AttioCompanyValues>): Company => ({
  id: id.record_id,
  name: values.name?.[0]?.value ?? '',
  domain: values.domains?.[0]?.domain ?? null,
  phone: null,
  industry: null,
  employee_count: null,
  owner_id: null,
  created_at: createdAt,
  updated_at: null,
});
